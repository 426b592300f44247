/** Without koffi nothing can be done on Windows: that is said, before anything is created. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { js, settled } from './jobs.ts';
import { connect } from './mcp.ts';
import { eventually } from './patience.ts';
import { scenario } from './scenario.ts';
import { APP, runNode, type TempBase } from './temp-base.ts';

/** The bundles in a folder with nothing else in it or above it. */
function bareFolder(temp: TempBase): string {
  const bare = temp.at('bare');
  mkdirSync(bare);
  for (const name of readdirSync(APP)) {
    if (/^(peer-jobs|server|supervisor-.*)\.[cm]js$/.test(name)) cpSync(join(APP, name), join(bare, name));
  }
  return bare;
}

const START = ['start', '--skill', 's', '--run-id', 'r', '--', ...js('')];

scenario('without koffi nothing is created, and it is said what is missing', async (temp) => {
  const bare = bareFolder(temp);
  const run = (args: readonly string[]) =>
    runNode([join(bare, 'peer-jobs.mjs'), ...args], temp.env, temp.scratch);
  const says = /^peer-jobs: [^\n]*koffi[^\n]*nothing was done\. Reinstall[^\n]*\n$/;
  const started = await run(START);
  equal(started.code, 1);
  match(started.stderr, says);
  deepEqual(readdirSync(temp.root), ['scratch']);
  equal((await run(['--version'])).code, 0);
  // Nor is anything said of a job that cannot be looked at.
  const job = await temp.start(js("fs.writeFileSync('out','x')"), ['--result-path', 'out']);
  equal(await settled(job), 'done');
  // What its supervisor set aside goes a moment after the status has come.
  await eventually(() => readdirSync(job.dir).length === 6);
  const before = readdirSync(job.dir);
  const questions = [
    ...['status', 'wait', 'result', 'log', 'reap', 'remove', 'show'].map((name) => [name, job.id]),
    ['result', '--path', temp.at('out')],
    ...[['list'], ['prune', '--older-than', '0s'], ['report']],
    START,
  ];
  for (const words of questions) {
    const { code, stdout, stderr } = await run(words);
    ok(code !== 0 && stdout.length === 0, `${words.join(' ')}: ${code} ${stdout}`);
    match(stderr, says, words.join(' '));
  }
  deepEqual(readdirSync(job.dir), before);
});

scenario(
  'without koffi doctor names that as the problem, with the cure, and looks at the rest',
  async (temp) => {
    const { code, stdout, stderr } = await runNode(
      [join(bareFolder(temp), 'peer-jobs.mjs'), 'doctor', '--json'],
      temp.env,
      temp.scratch,
    );
    equal(`${code} ${stderr}`, '1 ');
    const report: {
      healthy: boolean;
      findings: { check: string; verdict: string; remedy: string | null }[];
    } = JSON.parse(stdout.toString('utf8'));
    const problems = report.findings.filter(({ verdict }) => verdict === 'problem');
    deepEqual([report.healthy, problems.map(({ check }) => check)], [false, ['koffi']]);
    match(problems[0]?.remedy ?? '', /npm (ci|install)/);
    ok(report.findings.some(({ check, verdict }) => check === 'node' && verdict === 'ok'));
    deepEqual(readdirSync(temp.root), ['scratch']);
  },
);

scenario('without koffi the MCP server answers, and says what is missing', async (temp) => {
  const { client } = await connect(temp, join(bareFolder(temp), 'server.mjs'));
  for (let round = 0; round < 2; round += 1) {
    const { isError, content } = await client.callTool({
      name: 'start_job',
      arguments: { skill: 's', run_id: 'r', argv: js(''), cwd: temp.scratch },
    });
    equal(isError, true);
    match(JSON.stringify(content), /koffi.*nothing was done/);
  }
  await client.close();
  deepEqual(readdirSync(temp.root), ['scratch']);
});
