import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandOf, python, referenceMissing, repoRoot } from '../support/programs.ts';
import { keepBundles } from './bundles.ts';
import { compare, type Floor } from './compare.ts';
import { type Contender, onCommandLine, overMcp, taskSpooler, taskSpoolerMissing } from './contenders.ts';
import { machine } from './machine.ts';
import { openPlace } from './place.ts';
import { comparisonPlot } from './plot.ts';
import { besidesInterpreters, comparisonTable, judged, NODE, PYTHON } from './report.ts';
import { Session } from './session.ts';

/** How long the reference's supervisor sleeps between two looks, by default. */
const REFERENCE_POLL_MS = 2000;

export async function runComparison({
  rounds,
  out,
}: {
  rounds: number;
  out: string | undefined;
}): Promise<void> {
  const place = openPlace();
  const bundles = keepBundles();
  const contenders: Contender[] = [];
  try {
    const options = { env: place.env, cwd: place.dir };
    const floors: Floor[] = [
      { name: NODE, argv: [process.execPath, '-e', '0'] },
      { name: '/bin/true', argv: ['/bin/true'] },
    ];
    contenders.push(overMcp(await Session.open(bundles.server, options), place.dir));
    contenders.push(
      onCommandLine('peer-jobs on the command line', [process.execPath, bundles.cli], options, 0),
    );
    const noReference = referenceMissing();
    if (noReference === undefined) {
      contenders.push(onCommandLine('reference', commandOf('reference'), options, REFERENCE_POLL_MS));
      floors.push({ name: PYTHON, argv: [python ?? 'python3', '-c', '0'] });
    } else console.error(`without the reference: ${noReference}`);
    const noSpooler = taskSpoolerMissing();
    if (noSpooler === undefined) contenders.push(taskSpooler(place.dir, options));
    else console.error(`without task-spooler: ${noSpooler}`);

    const samples = await compare(contenders, floors, { rounds, dir: place.dir, options }, (line) =>
      console.error(line),
    );
    const folder = out ?? join(repoRoot, 'docs/bench');
    mkdirSync(folder, { recursive: true });
    const facts = machine();
    const table = comparisonTable(samples, facts, rounds);
    const verdicts = { judged: judged(samples), besidesInterpreters: besidesInterpreters(samples) };
    const record = { machine: facts, rounds, unit: 'ms', ...verdicts, samples };
    writeFileSync(join(folder, 'comparison.json'), `${JSON.stringify(record)}\n`);
    writeFileSync(join(folder, 'comparison.md'), table);
    writeFileSync(join(folder, 'comparison.svg'), comparisonPlot(samples));
    console.log(table);
  } finally {
    for (const contender of contenders) await contender.close().catch((error) => console.error(error));
    bundles.remove();
    place.remove();
  }
}
