import { describe, expect, it } from 'vitest';
import { refusalOfURL } from './url-policy.ts';

const strict = { allowHTTP: false, allowedBaseURLs: undefined };
const listed = {
  allowHTTP: false,
  allowedBaseURLs: ['https://cloud.example.com/v1/', 'https://other.example.com:8443'],
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

  it('lets http through where the operator was told to', () => {
    expect(refusalOfURL('http://cloud.example.com', { ...strict, allowHTTP: true })).toBeUndefined();
  });

  it('lets nothing but http and https through, whatever it was told', () => {
    expect(refusalOfURL('ftp://cloud.example.com', { ...strict, allowHTTP: true })).toBeDefined();
    expect(refusalOfURL('ftp://localhost', strict)).toBeDefined();
    expect(refusalOfURL('file:///etc/passwd', { ...strict, allowHTTP: true })).toBeDefined();
  });

  it('refuses what is no URL', () => {
    expect(refusalOfURL('cloud', strict)).toContain('is not a URL');
  });

  it.each([
    ['https://cloud.example.com/v1', true],
    ['https://cloud.example.com/v1/team', true],
    ['https://cloud.example.com/v10', false],
    ['https://cloud.example.com/', false],
    ['https://cloud.example.com/v1/../v2', false],
    ['https://cloud.example.com.evil.test/v1', false],
    ['https://other.example.com:8443/any', true],
    ['https://other.example.com/any', false],
    ['http://cloud.example.com/v1', false],
  ])('compares %s with the list by whole segments: %s', (url, allowed) => {
    expect(refusalOfURL(url, listed) === undefined).toBe(allowed);
  });
});
