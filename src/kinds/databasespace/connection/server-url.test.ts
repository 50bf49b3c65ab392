import { describe, expect, it } from 'vitest';
import { addressMeant, refusalOfTemplate } from './server-url.ts';

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
  ['by an IPv6 address in another form', 'https://[FD00:0:0::1]', '[fd00::1]:8000'],
  ['by a port of a machine with several', 'https://10.0.0.1:8002', '10.0.0.1:8002'],
  ['by a machine with several, unclearly', '10.0.0.1', '10.0.0.1'],
  ['that the cloud does not show', 'https://four.test:8000/', 'four.test:8000'],
  ['that is no address', 'the second one', undefined],
  ['that leads elsewhere', 'https://two.test@four.test/', undefined],
  ['with more than an address', 'https://two.test:8000/primary?of=orders', undefined],
])('A primary that is named %s is found among the servers that the cloud shows', (_, named, meant) => {
  expect(addressMeant(named, SHOWN)).toBe(meant);
});

describe('refusalOfTemplate()', () => {
  const none = { allowHTTP: false, allowedBaseURLs: undefined, allowedNetworks: [] };
  const listed = { ...none, allowedBaseURLs: ['https://10.0.0.5', 'https://orders.proxy.test'] };

  it.each([
    ['https://{host}:{port}', none],
    ['https://{host}.proxy.test/{port}', none],
    // As on loopback.
    ['http://{host}:{port}', none],
    ['http://gateway.test/{host}', { ...none, allowHTTP: true }],
    ['https://10.0.0.5/{host}/{port}', { ...none, allowedNetworks: ['10.0.0.0/8'] }],
    ['https://10.0.0.5/{host}/{port}', listed],
    ['https://{host}.proxy.test', listed],
    ['http://gateway.test/{host}', { ...listed, allowHTTP: true }],
  ])('lets %s pass, which may work', (template, policy) => {
    expect(refusalOfTemplate(template, policy)).toBeUndefined();
  });

  it.each([
    ['https://{host}:{prot}', none, '"https://db.example.com:{prot}" is not a URL: check serverURL'],
    ['https://{host}:99999', none, 'is not a URL'],
    ['https://[{host}]:{port}', none, 'is not a URL'],
    ['http://{host}.proxy.test', none, 'is not https: use https, or start the operator with --allow-http'],
    ['http://gateway.test/{host}', listed, 'is not https'],
    ['https://10.0.0.5/{host}', none, '"10.0.0.5" is a private address'],
  ])('refuses %s, which works for no server', (template, policy, message) => {
    expect(refusalOfTemplate(template, policy)?.message).toContain(message);
  });
});
