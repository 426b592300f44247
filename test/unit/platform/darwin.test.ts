import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createDarwinTable, parsePs } from '../../../runner-core/platform/darwin.ts';

/** As ps(1) of macOS prints it: right-aligned numbers, a left-aligned state, a start padded to its column. */
const SAMPLE = `    1     0     1 Ss   Mon Jan  8 09:12:33 2024     /sbin/launchd
  338     1   338 Ss   Mon Jan  8 09:12:41 2024     /usr/libexec/logd
  501   338   501 S+   Mon Dec 25 23:59:59 2023     -zsh TERM=xterm-256color SHELL=/bin/zsh
 4711     1  4710 S    Tue Jan  9 10:00:00 2024     /opt/homebrew/bin/node /Users/me/peer-jobs.mjs __supervise PATH=/usr/bin:/bin
 4712  4711  4712 R    Tue Jan  9 10:00:00 2024     /bin/sh -c sleep 60; echo "a b" CE_PEER_JOB_ID=20240109T100000Z-0a1b2c3d HOME=/Users/me
 4713  4712  4712 T    Tue Jan  9 10:00:01 2024     sleep 60
 4714  4712  4712 Z    Tue Jan  9 10:00:02 2024     <defunct>
 4715  4712  4712 UE   Tue Jan  9 10:00:02 2024     (stuck)
99999     1 99999 Ss   Wed Feb 29 00:00:00 2024     /Applications/Some App.app/Contents/MacOS/Some App --flag
`;

const rows = parsePs(SAMPLE);
const find = (pid: number) => rows.find(({ row }) => row.pid === pid);

describe('a line of ps on macOS', () => {
  test('is one process each, and nothing else is', () => {
    expect(rows.map(({ row }) => row.pid)).toEqual([1, 338, 501, 4711, 4712, 4713, 4714, 4715, 99_999]);
  });

  test('tells parent and group; the group stands for the session, which is not shown', () => {
    expect(find(4713)?.row).toMatchObject({ ppid: 4712, pgid: 4712, sid: 4712 });
    expect(find(4711)?.row).toMatchObject({ ppid: 1, pgid: 4710, sid: 4710 });
  });

  test('tells the start in epoch seconds, also for a day of one digit', () => {
    expect(find(1)?.row.start).toBe(Date.UTC(2024, 0, 8, 9, 12, 33) / 1000);
    expect(find(501)?.row.start).toBe(Date.UTC(2023, 11, 25, 23, 59, 59) / 1000);
    expect(find(99_999)?.row.start).toBe(Date.UTC(2024, 1, 29) / 1000);
  });

  test('tells the same start in whatever zone the asking process lives', () => {
    const zone = process.env.TZ;
    try {
      const starts = ['UTC', 'America/Los_Angeles', 'Asia/Kolkata'].map((name) => {
        process.env.TZ = name;
        return parsePs(SAMPLE)[0]?.row.start;
      });
      expect(new Set(starts).size).toBe(1);
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });

  test('tells a stopped process and a zombie from one that runs', () => {
    const states = rows.filter(({ row }) => row.pid > 4710 && row.pid < 5000);
    expect(states.filter(({ row }) => row.stopped).map(({ row }) => row.pid)).toEqual([4713]);
    expect(states.filter(({ row }) => row.zombie).map(({ row }) => row.pid)).toEqual([4714]);
  });

  test('keeps the whole command with the environment behind it', () => {
    expect(find(4712)?.command).toBe(
      '/bin/sh -c sleep 60; echo "a b" CE_PEER_JOB_ID=20240109T100000Z-0a1b2c3d HOME=/Users/me',
    );
    expect(find(99_999)?.command).toBe('/Applications/Some App.app/Contents/MacOS/Some App --flag');
  });

  test('without a command is a process all the same', () => {
    for (const end of ['', ' ', '     ']) {
      expect(parsePs(`  12     1    12 Z    Mon Jan  8 09:12:33 2024${end}\n`)[0]).toMatchObject({
        row: { pid: 12, zombie: true },
        command: '',
      });
    }
  });

  test('that is none is passed over: headings, complaints, other layouts, nothing', () => {
    for (const text of [
      '',
      '\n\n',
      '  PID  PPID  PGID STAT STARTED                      COMMAND\n',
      'ps: 99999: No such process\n',
      '  12     1    12 S    Mon Foo 99 09:12:33 2024     x\n',
      '  12     1    12 S    9:12AM     x\n',
      '  -1     1    12 S    Mon Jan  8 09:12:33 2024     x\n',
    ]) {
      expect(parsePs(text), text).toEqual([]);
    }
  });
});

test('every process that ps prints is read back as it is, for any machine', () => {
  const pids = fc.integer({ min: 0, max: 99_998 });
  const processes = fc.record({
    pid: pids,
    ppid: pids,
    pgid: pids,
    stat: fc.constantFrom('S', 'Ss', 'R+', 'T', 'Z', 'U', '?Es', 'SN'),
    at: fc.integer({ min: 0, max: 4_000_000_000 }),
    command: fc.string({ maxLength: 40 }).map((text) => text.trim()),
  });
  fc.assert(
    fc.property(fc.array(processes), (list) => {
      const text = list
        .map(({ pid, ppid, pgid, stat, at, command }) => {
          const [day = '', date = '', month = '', year = '', time = ''] = new Date(at * 1000)
            .toUTCString()
            .replace(',', '')
            .split(' ');
          const started = `${day} ${month} ${String(Number(date)).padStart(2)} ${time} ${year}`;
          const numbers = [pid, ppid, pgid].map((number) => String(number).padStart(5)).join(' ');
          return `${numbers} ${stat.padEnd(4)} ${started.padEnd(28)} ${command}\n`;
        })
        .join('');
      expect(parsePs(text)).toEqual(
        list.map(({ pid, ppid, pgid, stat, at, command }) => ({
          row: {
            pid,
            ppid,
            pgid,
            sid: pgid,
            start: at,
            zombie: stat === 'Z',
            stopped: stat === 'T',
          },
          command,
        })),
      );
    }),
  );
});

describe('a process of macOS', () => {
  const SESSION = '6E3A1B8C-9D0F-4C55-8A77-0123456789AB';
  const START = Date.UTC(2024, 0, 9, 10, 0, 0) / 1000;
  const line = (pid: number, stat = 'S', second = '00'): string =>
    `${pid} 1 ${pid} ${stat} Tue Jan  9 10:00:${second} 2024     node\n`;
  const self = line(process.pid);
  /** A machine where ps prints `ps`, and sysctl what it is asked for. */
  const machine = (
    ps: string,
    sysctl: Record<string, string> = { 'kern.bootsessionuuid': `${SESSION}\n` },
  ) => {
    const calls: string[][] = [];
    const table = createDarwinTable(async (program, args) => {
      calls.push([program, ...args]);
      return program === '/bin/ps' ? ps : (sysctl[args.at(-1) ?? ''] ?? '');
    });
    return { table, calls };
  };

  test('is named by the session of the boot, which no setting of the clock moves', async () => {
    const { table } = machine(self + line(4711));
    expect(await table.identify(4711)).toBe(`${SESSION}/darwin/${START}`);
  });

  test('is named by the time of the boot where the system knows no sessions', async () => {
    const boottime = '{ sec = 1704700000, usec = 12 } Mon Jan  8 07:46:40 2024\n';
    expect(await machine(self, { 'kern.boottime': boottime }).table.boot()).toBe('1704700000');
    expect(await machine(self, {}).table.boot()).toBe('unknown-boot');
  });

  test('is alive where its start is the recorded one, also when it is stopped', async () => {
    const identity = `${SESSION}/darwin/${START}`;
    for (const [stat, stopped] of [
      ['S', false],
      ['T', true],
    ] as const) {
      const { table } = machine(self + line(4711, stat));
      expect(await table.locate(4711, identity)).toEqual({ state: 'alive', pid: 4711, stopped });
    }
  });

  test('is gone where it is another one, a zombie, of another boot, or not there', async () => {
    const identity = `${SESSION}/darwin/${START}`;
    const { table } = machine(self + line(4711, 'S', '07') + line(4712, 'Z'));
    expect(await table.locate(4711, identity)).toEqual({ state: 'gone' });
    expect(await table.locate(4712, identity)).toEqual({ state: 'gone' });
    expect(await table.locate(4713, identity)).toEqual({ state: 'gone' });
    expect(await machine(self + line(4711)).table.locate(4711, `other/darwin/${START}`)).toEqual({
      state: 'gone',
    });
  });

  test('may be anywhere where ps cannot be run, as in a sandbox: nobody is declared dead for that', async () => {
    const { table } = machine('');
    expect(await table.locate(4711, `${SESSION}/darwin/${START}`)).toEqual({ state: 'unknown' });
    expect(await table.identify(process.pid)).toBeUndefined();
  });

  test('is asked of ps with a flag for each column: after one `=` all the rest is a heading', async () => {
    const { table, calls } = machine(self);
    await table.groupOf(process.pid);
    const [asked = []] = calls;
    expect(asked.filter((word) => word.includes('='))).toEqual(
      ['pid', 'ppid', 'pgid', 'stat', 'lstart', 'command'].map((name) => `${name}=`),
    );
    expect(asked.filter((word) => word === '-o').length).toBe(6);
  });
});
