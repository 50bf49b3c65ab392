import { expect, it } from 'vitest';
import { addressMeant } from './server-url.ts';

const SHOWN = ['one.test:8000', 'two.test:8000', 'three.test', '10.0.0.1:8001', '10.0.0.1:8002', '[fd00::1]:8000'];

it.each([
  ['as the cloud shows it', 'two.test:8000', 'two.test:8000'],
  ['as a URL', 'https://two.test:8000', 'two.test:8000'],
  ['as a URL with a path', 'http://two.test:8000/', 'two.test:8000'],
  ['in capitals', 'HTTPS://TWO.test:8000', 'two.test:8000'],
  ['without a port', 'two.test', 'two.test:8000'],
  ['as a URL without a port', 'https://two.test', 'two.test:8000'],
  ['with the port of another protocol', 'two.test:1729', 'two.test:8000'],
  ['with a port that the cloud does not show', 'https://three.test:443', 'three.test'],
  ['by an IPv6 address', 'https://[fd00::1]:8000', '[fd00::1]:8000'],
  ['by a port of a machine with several', 'https://10.0.0.1:8002', '10.0.0.1:8002'],
  ['by a machine with several, unclearly', '10.0.0.1', '10.0.0.1'],
  ['that the cloud does not show', 'https://four.test:8000/', 'four.test:8000'],
  ['that is no address', 'the second one', undefined],
  ['that leads elsewhere', 'https://two.test@four.test/', undefined],
  ['with more than an address', 'https://two.test:8000/primary?of=orders', undefined],
])('A primary that is named %s is found among the servers that the cloud shows', (_, named, meant) => {
  expect(addressMeant(named, SHOWN)).toBe(meant);
});
