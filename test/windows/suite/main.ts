// The Windows suite: real processes of the built bundles, inside Windows' own Node.
import './lifecycle.ts';
import './crowd.ts';
import './supervisors.ts';
import './limits.ts';
import './tree.ts';
import './settling.ts';
import './detach.ts';
import './launching.ts';
import './arguments.ts';
import './ownership.ts';
import './replacing.ts';
import './koffi.ts';
import './mcp.ts';
import './real-windows.ts';
import { runScenarios } from './scenario.ts';

runScenarios(process.env.PEER_JOBS_ONLY ?? '', Number(process.env.PEER_JOBS_AT_ONCE ?? '6'));
