import { describe, expect, it } from 'vitest';
import { connectionGuard, LOOPBACK_NETWORKS, refusalOfServerURL, refusalOfURL } from './url-policy.ts';

/** As on a developer's machine when nothing was named. */
const strict = { allowHTTP: false, allowedBaseURLs: undefined, allowedNetworks: LOOPBACK_NETWORKS };
/** As in a pod when nothing was named. */
const inPod = { ...strict, allowedNetworks: [] };
const listed = {
  ...inPod,
  allowedBaseURLs: ['https://cloud.example.com/v1/', 'https://other.example.com:8443', 'https://10.0.0.5'],
};

describe('refusalOfURL()', () => {
  it.each([
    'https://cloud.example.com',
    'https://cloud.example.com:8443/path',
    'http://localhost:8080',
    'http://127.0.0.1:8080',
    'http://127.8.9.1',
    'http://[::1]:8080',
  ])('lets %s through', (url) => {
    expect(refusalOfURL(url, strict)).toBeUndefined();
  });

  it.each([
    'http://cloud.example.com',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'http://10.0.0.1',
    'ftp://cloud.example.com',
  ])('refuses %s, as it is not https', (url) => {
    expect(refusalOfURL(url, strict)).toContain('is not https');
  });

  it('lets http through if the operator was told to', () => {
    expect(refusalOfURL('http://cloud.example.com', { ...strict, allowHTTP: true })).toBeUndefined();
  });

  it('lets nothing but http and https through, whatever it was told', () => {
    const all = { allowHTTP: true, allowedBaseURLs: undefined, allowedNetworks: undefined };
    expect(refusalOfURL('ftp://cloud.example.com', all)).toBeDefined();
    expect(refusalOfURL('ftp://localhost', strict)).toBeDefined();
    expect(refusalOfURL('file:///etc/passwd', all)).toBeDefined();
  });

  it('refuses what is not a URL', () => {
    expect(refusalOfURL('cloud', strict)).toContain('is not a URL');
  });

  it.each([
    ['https://169.254.169.254/latest', '"169.254.169.254" is a link-local address'],
    ['https://2852039166/', '"169.254.169.254" is a link-local address'],
    ['https://0xa9.0xfe.0xa9.0xfe', '"169.254.169.254" is a link-local address'],
    ['https://0251.0376.0251.0376', '"169.254.169.254" is a link-local address'],
    ['https://169.254.43518', '"169.254.169.254" is a link-local address'],
    ['https://[::ffff:169.254.169.254]', '"::ffff:a9fe:a9fe" is a link-local address'],
    ['https://127.0.0.1', '"127.0.0.1" is a loopback address'],
    ['http://127.1', '"127.0.0.1" is a loopback address'],
    ['https://[::1]:8443', '"::1" is a loopback address'],
    ['https://0', '"0.0.0.0" is a reserved address'],
    ['https://[::]', '"::" is a reserved address'],
    ['https://10.96.0.1', '"10.96.0.1" is a private address'],
    ['https://user@10.96.0.1', '"10.96.0.1" is a private address'],
  ])('refuses %s in a pod, however it is written, and says how to have it allowed', (url, text) => {
    expect(refusalOfURL(url, inPod)).toContain(text);
    expect(refusalOfURL(url, inPod)).toMatch(/: use a public address, or have it added to the .*--allowed-networks$/);
  });

  it('lets an address through if its network is allowed, or if it is one of the allowed base URLs', () => {
    expect(refusalOfURL('https://10.96.0.1', { ...inPod, allowedNetworks: ['10.96.0.0/12'] })).toBeUndefined();
    expect(refusalOfURL('https://10.0.0.5/api', listed)).toBeUndefined();
    expect(refusalOfURL('https://10.0.0.6/api', listed)).toContain('is not among');
  });

  it.each([
    ['https://cloud.example.com/v1', true],
    ['https://cloud.example.com/v1/team', true],
    ['https://cloud.example.com/v10', false],
    ['https://cloud.example.com/', false],
    ['https://cloud.example.com/v1/../v2', false],
    ['https://cloud.example.com.evil.test/v1', false],
    ['https://cloud.example.com@evil.test/v1', false],
    ['https://other.example.com:8443/any', true],
    ['https://other.example.com/any', false],
    ['http://cloud.example.com/v1', false],
  ])('compares %s with the list by whole segments: %s', (url, allowed) => {
    expect(refusalOfURL(url, listed) === undefined).toBe(allowed);
  });

  it.each(['/..%2fother', '/..%2Fother', '/a/..%5c..%5cother', '/%2e%2e%2fother', '/..%252fother', '/..;/other'])(
    'refuses a listed base URL with %s behind it: what decodes that on the way would lead out of it',
    (rest) => {
      const given = { ...inPod, allowedBaseURLs: ['https://gateway.example.com/acme', 'https://all.example.com'] };
      expect(refusalOfURL(`https://gateway.example.com/acme${rest}`, given)).toContain('is not among');
      expect(refusalOfURL('https://gateway.example.com/acme/caf%C3%A9', given)).toBeUndefined();
      // There is nothing outside of it.
      expect(refusalOfURL(`https://all.example.com${rest}`, given)).toBeUndefined();
    },
  );
});

describe('refusalOfServerURL()', () => {
  it('accepts any host if base URLs are not listed', () => {
    expect(refusalOfServerURL('https://gateway.test/db-1', 'db-1', inPod)).toBeUndefined();
  });

  it.each([
    ['https://db-1:8443', 'db-1', true],
    ['https://DB-1.Example.com:8443/v', 'db-1.example.com', true],
    ['https://8.8.8.8:8443', '8.8.8.8', true],
    ['https://[2600:1901::1]:8443', '[2600:1901:0::1]', true],
    ['https://evil.test/db-1', 'db-1', false],
    ['https://db-1.evil.test', 'db-1', false],
    ['https://db-1@evil.test', 'db-1', false],
    ['https://cloud.example.com/v1/servers/db-1', 'db-1', true],
    ['https://cloud.example.com/v2/servers/db-1', 'db-1', false],
  ])('sends logins only to hosts that a listed cloud named: %s for %s: %s', (url, host, allowed) => {
    const refusal = refusalOfServerURL(url, host, listed);
    expect(refusal === undefined).toBe(allowed);
    if (!allowed) expect(refusal).toContain(`is not at "${host}", the address that the cloud gave: use {host} alone`);
  });

  it.each([
    ['https://10.1.2.3:8443', '10.1.2.3', '"10.1.2.3" is a private address'],
    ['https://169.254.169.254', '169.254.169.254', '"169.254.169.254" is a link-local address'],
    ['http://db-1', 'db-1', 'is not https'],
    ['https://db 1', 'db 1', 'is not a URL: check serverURL'],
  ])('refuses %s, even if the cloud itself gave that address', (url, host, text) => {
    expect(refusalOfServerURL(url, host, inPod)).toContain(text);
    expect(refusalOfServerURL(url, host, listed)).toContain(text);
  });

  it('lets a private address through if its network is allowed', () => {
    const policy = { ...listed, allowedNetworks: ['10.1.0.0/16'] };
    expect(refusalOfServerURL('https://10.1.2.3:8443', '10.1.2.3', policy)).toBeUndefined();
  });
});

describe('connectionGuard()', () => {
  it('does not exist if everything is allowed', () => {
    expect(connectionGuard({ ...strict, allowedNetworks: undefined })).toBeUndefined();
  });

  it('refuses the addresses that names resolve to', () => {
    const guard = connectionGuard(listed);
    expect(guard?.refusalOf('cloud.example.com', '10.0.0.1')).toContain(
      '"cloud.example.com" is at 10.0.0.1, a private address, where the operator sends nothing unless told to',
    );
    expect(guard?.refusalOf('cloud.example.com', '8.8.8.8')).toBeUndefined();
  });

  it('trusts what the operator was started with, down to the port', () => {
    const guard = connectionGuard(listed);
    expect(guard?.trusts('https://cloud.example.com')).toBe(true);
    expect(guard?.trusts('https://cloud.example.com:8443')).toBe(false);
    expect(guard?.trusts('http://cloud.example.com')).toBe(false);
    expect(guard?.trusts('https://other.example.com:8443')).toBe(true);
    expect(guard?.trusts('https://evil.test')).toBe(false);
  });
});
