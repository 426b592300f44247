import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { keepSupervisorWarm, NODE_PROGRAM_ENV, workingDirectory } from '../runner-core/index.ts';
import { createServer } from './create-server.ts';
import { settingsFrom } from './settings.ts';
import { endWithClient } from './shutdown.ts';
import { StdioTransport } from './stdio-transport.ts';

declare const __VERSION__: string;

const say = (line: string): void => void process.stderr.write(`peer-jobs mcp: ${line}\n`);

// Whoever ran this may have closed its end.
process.stderr.on('error', () => undefined);

const args = process.argv.slice(process.argv[2] === 'mcp' ? 3 : 2);
const { env, problems } = settingsFrom(args, process.env);
for (const problem of problems) say(problem);
// Supervisors are started by this process, whoever the caller of an operation is.
if (env[NODE_PROGRAM_ENV] !== undefined) process.env[NODE_PROGRAM_ENV] = env[NODE_PROGRAM_ENV];
if (process.stdin.isTTY) say('serving MCP on stdin and stdout; a client starts this, end it with Ctrl-C');

// The bundle beside this one runs the supervisors.
const entry = fileURLToPath(new URL('./peer-jobs.mjs', import.meta.url));
let letSupervisorGo = (): void => undefined;

const { server, close } = createServer({
  version: __VERSION__,
  env,
  cwd: workingDirectory(),
  entry,
  runId: `mcp-${new Date().toISOString().replace(/[-:]/g, '').slice(0, 15)}Z-${randomBytes(3).toString('hex')}`,
  say,
});
const transport = new StdioTransport(process.stdin, process.stdout, say);
endWithClient({
  stdin: process.stdin,
  stdout: process.stdout,
  close: async () => {
    letSupervisorGo();
    // What came in whole is begun, as far as the time goes.
    await transport.drained();
    await close();
  },
  exit: () => process.exit(0),
});
// Not before the client has its first answers: they are what it waits for.
server.oninitialized = () => {
  letSupervisorGo = keepSupervisorWarm(entry);
};
void server.connect(transport);
