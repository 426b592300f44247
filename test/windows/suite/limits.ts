import { equal, match, ok } from 'node:assert/strict';
import { statSync } from 'node:fs';
import { gone, js, ready, reasonOf, settled } from './jobs.ts';
import { eventually } from './patience.ts';
import { scenario } from './scenario.ts';

const logBytes = (dir: string): number => statSync(`${dir}\\out.log`).size;

/** Longer than a worker takes to start on a machine under load: before its first output it is silent too. */
const IDLE_SECS = 12;

scenario('a silent worker times out after the idle window, with its whole tree', async (temp) => {
  const script =
    "const c=cp.spawn(process.execPath,['-e','setInterval(()=>{},1e6)'],{detached:true});say('ready '+process.pid+' '+c.pid);setInterval(()=>{},1e6)";
  const job = await temp.start(js(script), ['--idle-secs', String(IDLE_SECS)]);
  const pids = await ready(job);
  equal(await settled(job), 'timeout');
  match(reasonOf(job), /no output for 12s/);
  await gone(pids);
});

scenario('output keeps a worker alive beyond the idle window', async (temp) => {
  const talks = 'let n=0;const t=setInterval(()=>{say(n);if(++n===16)clearInterval(t)},1000)';
  const job = await temp.start(js(talks), ['--idle-secs', String(IDLE_SECS)]);
  equal(await settled(job), 'done');
});

scenario('the hard window ends a worker that never stops talking', async (temp) => {
  const job = await temp.start(js("setInterval(()=>say('x'),100)"), ['--hard-secs', '2']);
  equal(await settled(job), 'timeout');
  match(reasonOf(job), /hard cap 2s/);
});

scenario('a flood is stopped soon after the cap, and the file is cut back to it', async (temp) => {
  const flood = 'const b=Buffer.alloc(65536,120);for(;;)fs.writeSync(1,b)';
  const job = await temp.start(js(flood), ['--log-max-bytes', '100000']);
  equal(await settled(job), 'failed');
  match(reasonOf(job), /log exceeded byte cap/);
  await eventually(() => logBytes(job.dir) === 100_000);
});

scenario('a worker that ends with a result over its cap is failed', async (temp) => {
  const job = await temp.start(js("fs.writeFileSync('out','x'.repeat(2000))"), [
    '--result-path',
    'out',
    '--result-max-bytes',
    '1000',
  ]);
  equal(await settled(job), 'failed');
});

scenario('truncation of the log is a new baseline: what is printed after it is growth', async (temp) => {
  const log = "process.env.JOBS+'\\\\s\\\\r\\\\jobs\\\\'+process.env.CE_PEER_JOB_ID+'\\\\out.log'";
  const talks = `say('x'.repeat(5000));let n=0;const t=setInterval(()=>{if(n===2)fs.truncateSync(${log});say(n);if(++n===16)clearInterval(t)},1000)`;
  const job = await temp.start(js(talks), ['--idle-secs', String(IDLE_SECS), '--env', `JOBS=${temp.base}`]);
  equal(await settled(job), 'done');
  ok(logBytes(job.dir) < 1000);
});
