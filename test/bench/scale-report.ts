import { brief, median, quantile } from './figures.ts';
import { describeMachine, type Machine } from './machine.ts';
import type { ScaleFigures } from './run-scale.ts';

export const CALLS = ['start_job', 'job_status', 'exit to wait_jobs', 'list_jobs'] as const;

export function scaleTable(figures: ScaleFigures, machine: Machine): string {
  const { rungs, samples, asleep, floods, longFlood, crowd } = figures;
  const cell = (call: string, rung: string): string => {
    const values = samples.of(call, rung);
    return `**${brief(median(values))}** (${brief(quantile(values, 0.25))}–${brief(quantile(values, 0.75))})`;
  };
  const overshoots = floods.map((flood) => flood.overshootMib);
  return `${[
    `Milliseconds over MCP: median and middle half. ${describeMachine(machine)}.`,
    '',
    `| jobs alive | ${rungs.join(' | ')} |`,
    `| --- |${rungs.map(() => ' ---: |').join('')}`,
    ...CALLS.map((call) => `| ${call} | ${rungs.map((rung) => cell(call, rung)).join(' | ')} |`),
    '',
    '| supervisor asleep | jobs | PSS, MiB each | context switches a second, each |',
    '| --- | ---: | ---: | ---: |',
    ...Object.entries(asleep).map(
      ([who, { jobs, pssMib, wakeUpsPerSec }]) =>
        `| ${who} | ${jobs} | ${brief(pssMib)} | ${brief(wakeUpsPerSec)} |`,
    ),
    '',
    `Floods of ${brief(median(floods.map(({ mibPerSec }) => mibPerSec)))} MiB a second into a log with a cap of ${floods[0]?.capBytes ?? 0} bytes went ${overshoots.map(brief).join(', ')} MiB past it; the file was cut back to ${floods[0]?.keptBytes ?? 0} bytes. Over ${brief(longFlood.peakBytes / 2 ** 30)} GiB at ${brief(longFlood.mibPerSec)} MiB a second the worker took ${brief(longFlood.workerCpuMs)} ms of processor time, its supervisor ${brief(longFlood.supervisorCpuMs)} ms.`,
    '',
    `${crowd.jobs} jobs alive at once: ${brief(crowd.msPerStart)} ms a start while they were started four at a time; all reaped in ${brief(crowd.reapedMs / 1000)} s, ${crowd.timedOut} recorded as \`timeout\`, ${crowd.left} processes left.`,
  ].join('\n')}\n`;
}
