import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { describe, expect } from 'vitest';
import { createServer } from '../../server/create-server.ts';
import { repoRoot } from '../support/programs.ts';
import { runProgram } from '../support/run-cli.ts';
import { type TempBase, test } from '../support/temp-base.ts';

/** The scenarios that are about a server as such; the others want tools and prompts made for them. */
const scenarios = [
  'server-initialize',
  'ping',
  'tools-list',
  'completion-complete',
  'resources-list',
  'dns-rebinding-protection',
];

/** The factory that the stdio server uses, mounted on HTTP: the suite speaks nothing else. */
async function serveHttp(temp: TempBase): Promise<{ url: string; close(): Promise<void> }> {
  const closers: (() => Promise<void>)[] = [];
  const http = createHttpServer(async (request, response) => {
    const { server, close } = createServer({
      version: '0',
      env: temp.env,
      cwd: temp.scratch,
      entry: join(repoRoot, 'dist/peer-jobs.mjs'),
      runId: 'conformance',
      say: () => undefined,
    });
    closers.push(close);
    const { port } = http.address() as AddressInfo;
    const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
    const transport = new StreamableHTTPServerTransport({
      enableDnsRebindingProtection: true,
      allowedHosts: hosts,
      allowedOrigins: hosts.map((host) => `http://${host}`),
    });
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    await transport.handleRequest(request, response);
  });
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${(http.address() as AddressInfo).port}/mcp`,
    close: async () => {
      for (const close of closers) await close();
      http.closeAllConnections();
      await new Promise((resolve) => void http.close(resolve));
    },
  };
}

describe('the official conformance suite', () => {
  for (const scenario of scenarios) {
    test(scenario, async ({ temp }) => {
      const served = await serveHttp(temp);
      try {
        const bin = join(repoRoot, 'node_modules/.bin/conformance');
        const run = await runProgram(
          [process.execPath, bin, 'server', '--url', served.url, '--scenario', scenario],
          { env: temp.env, cwd: temp.scratch },
        );
        expect(run.code, `${run.stdout}${run.stderr}`).toBe(0);
        expect(run.stdout.toString('utf8')).toMatch(/[1-9]\d*\/[1-9]\d* passed|Passed: [1-9]/i);
      } finally {
        await served.close();
      }
    });
  }
});
