import { expect, test } from 'vitest';
import { hostOf } from './host-of.ts';

test.each([
  ['https://cloud.example.com:8443/v1', 'cloud.example.com'],
  ['http://10.0.0.1', '10.0.0.1'],
  ['http://[fd00::1]:8000', 'fd00::1'],
])('hostOf() names the host of %s', (url, host) => {
  expect(hostOf(new URL(url))).toBe(host);
});
