import fc from 'fast-check';
import { expect, test } from 'vitest';
import { REDACTED, redact } from './redact.ts';

const SECRET = 'c4n/ary+"s3cr€t"&<x> y';

const FORMS: readonly (readonly [string, string])[] = [
  ['as it is', SECRET],
  ['in other case', SECRET.toUpperCase()],
  ['as JSON', JSON.stringify(SECRET)],
  ['as JSON with escaped slashes', JSON.stringify(SECRET).replaceAll('/', '\\/')],
  ['as JSON in ASCII', JSON.stringify(SECRET).replaceAll('€', '\\u20ac')],
  ['as a URI component', encodeURIComponent(SECRET)],
  ['as a URI', encodeURI(SECRET)],
  ['as a form field', new URLSearchParams({ a: SECRET }).toString()],
  [
    'as HTML',
    SECRET.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  ],
  ['as Base64', Buffer.from(SECRET).toString('base64')],
  ['as Base64 for URLs', Buffer.from(SECRET).toString('base64url')],
  ['as Base64 behind one letter', Buffer.from(`:${SECRET}`).toString('base64')],
  ['as Base64 in lines', Buffer.from(SECRET).toString('base64').replace(/.{16}/g, '$&\n')],
  ['in hexadecimal', Buffer.from(SECRET).toString('hex').toUpperCase()],
  ['with each byte escaped', Buffer.from(SECRET).toString('hex').replace(/../g, '%$&')],
  ['cut after 12 letters', SECRET.slice(0, 12)],
  ['cut before its last 12 letters', SECRET.slice(-12)],
];

test.each(FORMS)('redact() takes a secret out %s', (_, form) => {
  const result = redact(`before ${form} after`, [SECRET]);
  expect(result).toMatch(/^before /);
  expect(result).toMatch(/ after$/);
  expect(result).toContain(REDACTED);
  for (let start = 0; start + 8 <= form.length; start++) expect(result).not.toContain(form.slice(start, start + 8));
});

test('redact() takes a secret out of Base64 credentials and leaves the client id', () => {
  const encoded = Buffer.from(`some-client:${SECRET}`).toString('base64');
  const [before = '', after = ''] = redact(encoded, [SECRET]).split(REDACTED);
  expect(Buffer.from(before, 'base64').toString()).toBe('some-client:');
  expect(after.length).toBeLessThan(4);
});

test('redact() leaves a text without secrets as it is', () => {
  expect(redact('invalid client id acme-1', ['s3cr3t-value', 'another-one'])).toBe('invalid client id acme-1');
  expect(redact('nothing to hide', [])).toBe('nothing to hide');
  expect(redact('nothing to hide', [''])).toBe('nothing to hide');
  expect(redact('', ['secret'])).toBe('');
});

test('redact() takes short secrets out too', () => {
  expect(redact('user a b', ['b'])).toBe(`user a ${REDACTED}`);
});

test('redact() withholds the whole text where lower case shifts its positions', () => {
  expect(redact('İ s3cr3t-value', ['s3cr3t-value'])).toBe(REDACTED);
});

test('redact() never leaves a secret in a text, whatever both are', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.string(), fc.string(), (secret, before, after) => {
      const result = redact(before + secret + after, [secret]);
      // The mark itself is made of letters that a short secret may consist of.
      for (const part of result.split(REDACTED)) expect(part).not.toContain(secret);
    }),
  );
});

test('redact() finds Base64 of a secret at any place', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[!-~]{12,40}$/), fc.string(), fc.string(), (secret, before, after) => {
      const encoded = Buffer.from(before + secret + after).toString('base64');
      expect(redact(encoded, [secret])).toContain(REDACTED);
    }),
  );
});
