import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { waitUntil } from '../../test/support/control-plane.ts';
import { controller } from './controller.ts';

/** The arguments of an operator whose API server is there. */
function argumentsFor(server: string): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'controller-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const kubeconfig = join(folder, 'config');
  const cluster = { name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } };
  const context = { name: 'c', context: { cluster: 'c', user: 'u' } };
  const users = [{ name: 'u', user: { token: 'token' } }];
  const config = { 'current-context': 'c', clusters: [cluster], contexts: [context], users };
  writeFileSync(kubeconfig, JSON.stringify(config));
  return ['--kubeconfig', kubeconfig, '--metrics-address=127.0.0.1:0', '--health-address=127.0.0.1:0'];
}

/** The exit code and the log of an operator with this environment whose API server is nowhere, and which is to stop at once. */
async function started(env: Readonly<Record<string, string>>) {
  let log = '';
  const stdout = (text: string) => {
    log += text;
  };
  const code = await controller(argumentsFor('https://127.0.0.1:1'), {
    stdout,
    stderr: stdout,
    env,
    signal: AbortSignal.abort(),
  });
  return { code, log };
}

test('the log names the proxy that clouds and servers are reached through, without its login', async () => {
  const { code, log } = await started({ HTTPS_PROXY: 'http://me:sesame@proxy.test:3128' });
  expect(code).toBe(0);
  expect(log).toContain(
    '"proxy":"http://proxy.test:3128","msg":"Clouds and servers by https:// are reached through a proxy',
  );
  expect(log).not.toContain('sesame');
});

test('an operator whose proxy cannot be used does not start, and says why', async () => {
  const { code, log } = await started({ HTTP_PROXY: 'socks5://me:sesame@proxy.test' });
  expect(code).toBe(1);
  expect(log).toContain(
    'Mooring cannot run: HTTP_PROXY begins with socks5://: Mooring uses proxies by http:// and https:// only',
  );
  expect(log).not.toContain('sesame');
});

test('the log says when an API server that was away answers again', async () => {
  // A shorter outage is not told.
  let backMs: number | undefined;
  const server = createServer((_, response) => {
    backMs ??= performance.now() + 1_500;
    if (performance.now() < backMs) response.destroy();
    else response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  let log = '';
  const stdout = (text: string) => {
    log += text;
  };
  const stop = new AbortController();
  const argv = argumentsFor(`http://127.0.0.1:${port}`);
  const running = controller(argv, { stdout, stderr: stdout, env: {}, signal: stop.signal });
  await waitUntil(() => log.includes('Cannot watch'), { what: 'it finds no API server' });
  expect(log).not.toContain('answers again');
  await waitUntil(() => /"lastedMs":\d{4,},"msg":"The API server answers again"/.test(log), { what: 'it finds it' });
  stop.abort();
  expect(await running).toBe(0);
  server.close();
});
