import { describe, expect, it, test } from 'vitest';
import { networksOf, specialUseOf, splitAddress } from './address.ts';

const NONE = networksOf([]);

describe('specialUseOf()', () => {
  it.each([
    ['127.0.0.1', 'a loopback address'],
    ['127.8.9.1', 'a loopback address'],
    ['::1', 'a loopback address'],
    ['0:0:0:0:0:0:0:1', 'a loopback address'],
    ['::ffff:127.0.0.1', 'a loopback address'],
    ['::ffff:7f00:1', 'a loopback address'],
    ['64:ff9b::127.0.0.1', 'a loopback address'],
    ['169.254.169.254', 'a link-local address'],
    ['::ffff:169.254.169.254', 'a link-local address'],
    ['64:ff9b::a9fe:a9fe', 'a link-local address'],
    ['168.63.129.16', 'a link-local address'],
    ['fe80::1', 'a link-local address'],
    ['fe80::1%eth0', 'a link-local address'],
    ['10.0.0.1', 'a private address'],
    ['64:ff9b::10.0.0.0', 'a private address'],
    ['172.16.0.1', 'a private address'],
    ['172.31.255.255', 'a private address'],
    ['192.168.1.1', 'a private address'],
    ['100.64.0.1', 'a private address'],
    ['100.100.100.200', 'a private address'],
    ['fd00:ec2::254', 'a private address'],
    ['fc00::1', 'a private address'],
    ['fec0::1', 'a private address'],
    ['0.0.0.0', 'a reserved address'],
    ['::', 'a reserved address'],
    ['::ffff:0.0.0.0', 'a reserved address'],
    ['64:ff9b::', 'a reserved address'],
    ['::127.0.0.1', 'a reserved address'],
    ['192.0.0.192', 'a reserved address'],
    ['192.0.2.1', 'a reserved address'],
    ['192.88.99.1', 'a reserved address'],
    ['198.51.100.1', 'a reserved address'],
    ['203.0.113.1', 'a reserved address'],
    ['3fff::1', 'a reserved address'],
    ['198.18.0.1', 'a reserved address'],
    ['224.0.0.1', 'a reserved address'],
    ['255.255.255.255', 'a reserved address'],
    ['ff02::1', 'a reserved address'],
    ['2002:7f00:1::', 'a reserved address'],
    ['2001:0:1::1', 'a reserved address'],
    ['2001:db8::1', 'a reserved address'],
    ['64:ff9b:1::1', 'a reserved address'],
    ['5f00::1', 'a reserved address'],
    ['cloud', 'not an IP address'],
    ['', 'not an IP address'],
  ])('classifies %s as %s', (address, word) => {
    expect(specialUseOf(address, NONE)).toBe(word);
  });

  it.each([
    ...['8.8.8.8', '172.32.0.1', '172.15.255.255', '100.128.0.1', '169.253.0.1', '11.0.0.1', '223.255.255.255'],
    ...['2600:1901::1', '2a00:1450:4001::1', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8'],
  ])('classifies %s as public', (address) => {
    expect(specialUseOf(address, NONE)).toBeUndefined();
  });

  it.each([
    ['10.1.2.3', ['10.1.0.0/16'], true],
    ['10.2.2.3', ['10.1.0.0/16'], false],
    ['::ffff:10.1.2.3', ['10.1.0.0/16'], true],
    ['10.1.2.3', ['192.168.0.0/16', '10.1.2.3'], true],
    ['fd00::5', ['fd00::/8'], true],
    ['fd00::5', ['10.0.0.0/8'], false],
    ['::1', ['127.0.0.0/8'], false],
    ['169.254.169.254', ['0.0.0.0/0'], true],
    ['::1', ['::/0'], true],
  ])('for %s, with %j allowed, returns %s', (address, allowed, may) => {
    expect(specialUseOf(address, networksOf(allowed)) === undefined).toBe(may);
  });
});

test.each(['', 'cloud', '10.0.0.0/33', '10.0.0.0/', '10.0.0/8', '10.0.0.0/8/8', 'fd00::/129', '10.0.0.0/-1', '[::1]'])(
  'networksOf() does not accept "%s" as a network',
  (text) => {
    expect(() => networksOf([text])).toThrow('is not a network');
  },
);

describe('splitAddress()', () => {
  it.each([
    ['db.test:8000', { host: 'db.test', port: '8000' }],
    ['db_1.test', { host: 'db_1.test', port: undefined }],
    ['127.0.0.1:65535', { host: '127.0.0.1', port: '65535' }],
    ['[::1]:8000', { host: '::1', port: '8000' }],
    ['[::ffff:1.2.3.4]', { host: '::ffff:1.2.3.4', port: undefined }],
  ])('accepts %s', (text, parts) => {
    expect(splitAddress(text)).toEqual(parts);
  });

  it.each([
    ...['', ':80', 'db:', 'db:0', 'db:65536', 'db:1/evil', 'db/evil', 'db:1?x', 'db:1#x', 'u:p@db:1', 'http://db:1'],
    ...[
      'db test:1',
      ' db:1',
      'db:1\n',
      'db\\evil:1',
      '::1:80',
      '[::x]:1',
      '[1.2.3.4]:1',
      '[fe80::1%eth0]:1',
      'db:1:2',
      'd%62:1',
    ],
  ])('does not accept %j', (text) => {
    expect(splitAddress(text)).toBeUndefined();
  });
});
