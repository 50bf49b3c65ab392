import { expect, test } from 'vitest';
import { proxyFor } from './proxy.ts';

const SERVER = 'https://api.example.com:6443';
const PROXY = 'http://proxy.test:3128';

test('the proxy of the kubeconfig is used, otherwise that of the environment for the scheme', () => {
  expect(proxyFor(SERVER, undefined, {})).toBeUndefined();
  expect(proxyFor(SERVER, PROXY, { NO_PROXY: '*', HTTPS_PROXY: 'http://other.test' })).toBe(`${PROXY}/`);
  expect(proxyFor(SERVER, '', { HTTPS_PROXY: 'proxy.test:3128' })).toBe(`${PROXY}/`);
  expect(proxyFor(SERVER, undefined, { https_proxy: 'https://a:b@proxy.test' })).toBe('https://a:b@proxy.test/');
  expect(proxyFor(SERVER, undefined, { HTTP_PROXY: PROXY })).toBeUndefined();
  expect(proxyFor('http://api.example.com', undefined, { HTTP_PROXY: PROXY })).toBe(`${PROXY}/`);
});

test.each([
  ['https://api.example.com:6443', 'other.test, example.com', true],
  ['https://api.example.com:6443', '.example.com', true],
  ['https://api.example.com:6443', '*.example.com', true],
  ['https://example.com', 'example.com', true],
  ['https://example.com', '.example.com', false],
  ['https://notexample.com', 'example.com', false],
  ['https://api.example.com:6443', 'api.example.com:443', false],
  ['https://api.example.com', 'api.example.com:443', true],
  ['https://API.example.com:6443', 'Api.Example.com:6443', true],
  ['https://10.1.2.3', '10.0.0.0/8', true],
  ['https://11.1.2.3', '10.0.0.0/8', false],
  ['https://api.example.com', '10.0.0.0/8', false],
  ['https://10.1.2.3:6443', '10.1.2.3', true],
  ['https://[2001:db8::7]:6443', '2001:db8::/32', true],
  ['https://[2001:db8::7]:6443', '2001:db8::7', true],
  ['https://[2001:db8::7]:6443', '[2001:db8::7]:443', false],
  ['https://[2001:db8::7]:6443', '2001:db8:0::7', true],
  ['https://[2001:db8::7]:6443', '[2001:DB8:0:0::7]:6443', true],
  ['https://[2001:db8::70]', '2001:db8::7', false],
  ['https://10.1.2.3', '::ffff:10.1.2.3', true],
  ['https://[::ffff:10.1.2.3]', '10.1.2.3', true],
  ['https://[::ffff:10.1.2.3]', '10.0.0.0/8', true],
  ['https://10.1.2.3', '10.1.2.3:443', true],
  ['https://10.1.2.3', '10.1.2.3:80', false],
  ['https://10.1.2.3', '.2.3', false],
  ['https://[fe80::1]', 'fe80::1%eth0', false],
  ['https://b\u00fccher.example', 'b\u00fccher.example', true],
  ['https://www.b\u00fccher.example', '.B\u00dcCHER.example:443', true],
  ['https://ab.de', 'de', true],
  ['https://abcde', 'de', false],
  ['https://example.com', '://, [, ], :80, example.org:https, .', false],
  ['https://[::ffff:127.0.0.1]', '', true],
  ['https://10.1.2.3', '10.0.0/8', false],
  ['https://10.1.2.3', '10.0.0.0/33,10.1.0.0/16', true],
  ['https://[fe80::1]', 'fe80::/129', false],
  ['https://api.example.com', '10.0.0/8, example.com', true],
  ['https://api.example.com', '*', true],
  ['https://api.example.com', '', false],
  ['https://localhost:6443', '', true],
  ['https://127.0.0.2:6443', '', true],
  ['https://[::1]:6443', '', true],
])('for %s NO_PROXY="%s" means no proxy: %s', (server, noProxy, isExcepted) => {
  expect(proxyFor(server, undefined, { HTTPS_PROXY: PROXY, NO_PROXY: noProxy }) === undefined).toBe(isExcepted);
});

test('if no proxy is named, NO_PROXY does not matter', () => {
  expect(proxyFor('https://10.1.2.3', undefined, { NO_PROXY: '10.0.0/8' })).toBeUndefined();
  expect(proxyFor('https://10.1.2.3', PROXY, { NO_PROXY: '10.0.0/8' })).toBe(`${PROXY}/`);
});

test('a proxy that cannot be used is refused, without its password', () => {
  const only = 'Mooring uses proxies by http:// and https:// only';
  expect(() => proxyFor(SERVER, 'socks5://me:secret@proxy.test', {})).toThrow(
    new Error(`The proxy-url of the kubeconfig begins with socks5://: ${only}`),
  );
  expect(() => proxyFor(SERVER, undefined, { HTTPS_PROXY: 'http://me:secret@:x' })).toThrow(
    new Error(`HTTPS_PROXY cannot be read: ${only}`),
  );
});

test.each([
  'http://me:100%@proxy.test',
  'http://me:12#34@proxy.test',
  'me:12/34@proxy.test',
  'http://me:1?@proxy.test',
  'http://me:ses#ame@proxy.test:3128',
  'me:ses/ame@proxy.test:3128',
  'https://me:ses?ame@proxy.test',
  'http://me:ses\\ame@proxy.test',
])('a proxy whose login is not written as URLs demand is refused: %s', (named) => {
  expect(() => proxyFor(SERVER, undefined, { HTTPS_PROXY: named })).toThrow(
    new Error(
      'HTTPS_PROXY cannot be read: in its login, %, /, \\, ? and # must be written as %25, %2F, %5C, %3F and %23',
    ),
  );
});
