// Puts the single-file command beside the skill that falls back to it. Run after the build.
import { copyFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
copyFileSync(`${root}dist/peer-jobs.mjs`, `${root}skill/peer-jobs.mjs`);
console.log('skill/peer-jobs.mjs');
