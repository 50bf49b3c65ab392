import { expect, test } from 'vitest';
import { apiServerArguments, etcdProgressFlag } from './components.ts';

test('etcdProgressFlag() knows the flag of etcd 3.5 and that of 3.6', () => {
  const old = '  --experimental-watch-progress-notify-interval "10m"\n';
  expect(etcdProgressFlag(old)).toBe('--experimental-watch-progress-notify-interval');
  expect(etcdProgressFlag(`${old}  --watch-progress-notify-interval '10m'\n`)).toBe('--watch-progress-notify-interval');
});

test('the API server checks every request against RBAC and listens on loopback only', () => {
  const args = apiServerArguments('/data', 6443);
  expect(args).toContain('--authorization-mode=RBAC');
  expect(args).toContain('--bind-address=127.0.0.1');
});
