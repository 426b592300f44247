// Opens a file for itself alone, in a way that every child inherits, then runs Node with the rest of its arguments.
import { spawnSync } from 'node:child_process';
import { win32 } from '../../../runner-core/platform/win32-api.ts';

const GENERIC_READ = 0x8000_0000;
const OPEN_EXISTING = 3;

const [path = '', ...args] = process.argv.slice(2);
const security = Buffer.alloc(24);
security.writeUInt32LE(security.length, 0);
security.writeInt32LE(1, 16);
if (win32().CreateFileW(path, GENERIC_READ, 0, security, OPEN_EXISTING, 0, 0) === -1)
  throw new Error('not opened');
process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1;
