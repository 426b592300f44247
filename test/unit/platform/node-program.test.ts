import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { nodeProgram } from '../../../runner-core/platform/node-program.ts';

test('a program that is node runs supervisors itself', () => {
  for (const self of ['/usr/bin/node', '/opt/node20/bin/nodejs', 'C:\\Program Files\\nodejs\\node.exe']) {
    expect(nodeProgram({ PATH: '' }, self)).toBe(self);
  }
});

test('a program that only contains node looks for one on PATH', () => {
  const folder = mkdtempSync(join(tmpdir(), 'peer-jobs-node-'));
  try {
    writeFileSync(join(folder, 'node'), '');
    chmodSync(join(folder, 'node'), 0o755);
    const desktop = '/Applications/Claude.app/Contents/MacOS/Claude';
    expect(nodeProgram({ PATH: `/nowhere:${folder}` }, desktop)).toBe(join(folder, 'node'));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('what the setting names is taken', () => {
  expect(nodeProgram({ PEER_JOBS_NODE: '/my/node', PATH: '' }, '/Applications/Claude')).toBe('/my/node');
});
