import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { controller } from './controller.ts';

/** The exit code and the log of an operator with this environment whose API server is nowhere, and which is to stop at once. */
async function started(env: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'controller-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const kubeconfig = join(folder, 'config');
  const cluster = { name: 'c', cluster: { server: 'https://127.0.0.1:1' } };
  const context = { name: 'c', context: { cluster: 'c', user: 'u' } };
  const users = [{ name: 'u', user: { token: 'token' } }];
  const config = { 'current-context': 'c', clusters: [cluster], contexts: [context], users };
  writeFileSync(kubeconfig, JSON.stringify(config));
  let log = '';
  const stdout = (text: string) => {
    log += text;
  };
  const argv = ['--kubeconfig', kubeconfig, '--metrics-address=127.0.0.1:0', '--health-address=127.0.0.1:0'];
  const code = await controller(argv, { stdout, stderr: stdout, env, signal: AbortSignal.abort() });
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
