import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/*
 * What the operator loads stays in its memory: source, compiled code, and the pages of Node's binary with Node's own modules.
 * Adding to it should be a conscious decision, with a reason.
 */

const CONTROLLER = new URL('../../src/commands/controller.ts', import.meta.url).href;
const SCRIPT = `
import { registerHooks } from 'node:module';
const files = [];
registerHooks({ load: (url, context, next) => (files.push(url), next(url, context)) });
await import(${JSON.stringify(CONTROLLER)});
console.log(JSON.stringify({ files, builtins: process.moduleLoadList }));
`;

/** `files`: below node_modules and src; `builtins`: Node's names, including internal modules. */
async function loaded() {
  const args = ['--input-type=module', '--eval', SCRIPT];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, NODE_OPTIONS: '' } });
  const { files, builtins } = JSON.parse(stdout) as Record<'files' | 'builtins', readonly string[]>;
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const paths = files.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url).slice(root.length));
  return { files: paths, builtins };
}

test('The operator loads only the packages and modules that it uses, and none that only other commands need', async () => {
  const { files, builtins } = await loaded();
  const packages = files.map((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]);
  expect([...new Set(packages.filter((name) => name !== undefined))].sort()).toEqual([
    '@opentelemetry/api',
    '@pinojs/redact',
    'atomic-sleep',
    'bintrees',
    'on-exit-leak-free',
    'pino',
    'pino-std-serializers',
    'prom-client',
    'quick-format-unescaped',
    'safe-stable-stringify',
    'sonic-boom',
    'tdigest',
    'thread-stream',
    'undici',
    'zod',
  ]);
  // From the HTTP client no fetch, WebSocket, cache or mock: neither the package's nor Node's own copy.
  expect(files).toContain('node_modules/undici/lib/dispatcher/agent.js');
  expect(files.filter((path) => /^node_modules\/undici\/(index|lib\/(web|mock|cache|interceptor))/.test(path))).toEqual(
    [],
  );
  expect(builtins).toContain('NativeModule http');
  expect(builtins.filter((name) => /undici|sqlite|inspector\/|repl$/.test(name))).toEqual([]);
});
