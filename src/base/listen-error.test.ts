import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { listenErrorMessage } from './listen-error.ts';

test('listenErrorMessage() says which address is in use, and how to name another', async ({ onTestFinished }) => {
  const taken = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const [error] = await once(createServer().listen(port, '127.0.0.1'), 'error', {}).catch((reason) => [reason]);
  expect(listenErrorMessage(error, '--port')).toBe(
    `127.0.0.1:${port} is in use (EADDRINUSE): end what listens there, or name another port with --port`,
  );
});

test.each([
  [{ code: 'EADDRINUSE', address: '::', port: 8081 }, /^\[::\]:8081 is in use .* with --health-address$/],
  [
    { code: 'EACCES', address: '127.0.0.1', port: 80 },
    /^127\.0\.0\.1:80 may not be used by this user .* from 1024 up with/,
  ],
  [{ code: 'EADDRNOTAVAIL', address: '192.0.2.1', port: 80 }, /^192\.0\.2\.1:80 is not an address of this machine/],
  [
    { code: 'ENOTFOUND', hostname: '999.1.1.1' },
    /^999\.1\.1\.1 is neither an address nor a name .* with --health-address$/,
  ],
  [{ code: 'EMFILE' }, /^it failed$/],
])('listenErrorMessage(%j)', (fields, told) => {
  expect(listenErrorMessage(Object.assign(new Error('it failed'), fields), '--health-address')).toMatch(told);
});

test('listenErrorMessage() adds nothing to other errors', () => {
  expect(listenErrorMessage(new Error('Bad certificate'), '--port')).toBe('Bad certificate');
  expect(listenErrorMessage('odd', '--port')).toBe('odd');
});
