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

test.each(FORMS)('redact() removes a secret %s', (_, form) => {
  const result = redact(`before ${form} after`, [SECRET]);
  expect(result).toMatch(/^before /);
  expect(result).toMatch(/ after$/);
  expect(result).toContain(REDACTED);
  for (let start = 0; start + 8 <= form.length; start++) expect(result).not.toContain(form.slice(start, start + 8));
});

test.each(['fifteen letters', 'sixteen letters!', 'seventeen letters'])(
  'redact() leaves no letter of %s as Base64, except the last if that depends on what follows',
  (secret) => {
    const tail = secret.length % 3 === 0 ? '' : '.=*';
    expect(redact(Buffer.from(secret).toString('base64'), [secret])).toMatch(new RegExp(`^\\[redacted\\]${tail}$`));
  },
);

test.each([
  ['within JSON', 'p"w/d', JSON.stringify({ why: 'not p"w/d!' }), '{"why":"not [redacted]!"}'],
  ['in hexadecimal', 'pswd', Buffer.from('pswd').toString('hex'), '[redacted]'],
])('redact() removes a short secret %s', (_, secret, text, result) => {
  expect(redact(text, [secret])).toBe(result);
});

/** Made of letters that each form writes differently, so that no eight of one form occur in another. */
const DENSE = '/"é &'.repeat(4);
/** As many libraries write them, besides `&lt;`. */
const QUOTES = '\'"<&='.repeat(4);
const html = (quote: string, apostrophe: string) =>
  QUOTES.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', quote).replaceAll("'", apostrophe);
const jsonForHtml = (letters: RegExp) =>
  JSON.stringify(QUOTES).replace(letters, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);

test.each([
  ['as it is', DENSE],
  ['as JSON', JSON.stringify(DENSE)],
  ['as JSON with escaped slashes', JSON.stringify(DENSE).replaceAll('/', '\\/')],
  ['as JSON in ASCII', JSON.stringify(DENSE).replaceAll('é', '\\u00e9')],
  ['as a URI component', encodeURIComponent(DENSE)],
  ['as a URI', encodeURI(DENSE)],
  ['as a form field', new URLSearchParams({ a: DENSE }).toString()],
  ['as HTML', DENSE.replaceAll('&', '&amp;').replaceAll('"', '&quot;')],
  ['as HTML by JavaScript', html('&quot;', '&#39;')],
  ['as HTML by Go', html('&#34;', '&#39;')],
  ['as HTML by Python', html('&quot;', '&#x27;')],
  ['as HTML by PHP', html('&quot;', '&#039;')],
  ['as JSON by Go', jsonForHtml(/[<>&]/g)],
  ['as JSON by Gson', jsonForHtml(/[<>&=']/g)],
])('redact() removes a secret that each form writes differently: %s', (_, form) => {
  const result = redact(`before ${form} after`, [DENSE, QUOTES]);
  expect(result).toContain(REDACTED);
  for (let start = 0; start + 8 <= form.length; start++) expect(result).not.toContain(form.slice(start, start + 8));
});

test.each(['', 'a', 'ab'])('redact() removes a short secret from Base64 behind %o, whatever follows', (before) => {
  for (const after of ['', 'y', 'yz']) {
    const encoded = Buffer.from(`${before}s3cr3t${after}`).toString('base64');
    expect(redact(encoded, ['s3cr3t'])).toContain(REDACTED);
  }
});

test('redact() leaves pieces that the reader of the text knows, in upper or lower case', () => {
  const secret = 'tok_known-begin-s3cr3t-rest';
  const text = `refused: ${secret}`;
  expect(redact(text, [secret], ['it begins with TOK_KNOWN-begin'])).toBe(`refused: tok_know${REDACTED}`);
  expect(redact(text, [secret])).toBe(`refused: ${REDACTED}`);
  expect(redact(text, [secret], [secret])).toBe(text);
});

test('redact() removes a secret from Base64 credentials and leaves the client id', () => {
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
  expect(redact('İ', [])).toBe('İ');
  // The hexadecimal or Base64 form of a short secret may be anything.
  expect(redact('code 6162, key YWI', ['ab'])).toBe('code 6162, key YWI');
});

test('redact() removes short secrets, too', () => {
  expect(redact('user a b', ['b'])).toBe(`user a ${REDACTED}`);
  expect(redact('a b c', ['b'])).toBe(`a ${REDACTED} c`);
});

test('redact() withholds the whole text if lower case shifts its positions', () => {
  expect(redact('İ s3cr3t-value', ['s3cr3t-value'])).toBe(REDACTED);
});

test('redact() never leaves a secret in a text, whatever both are', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.string(), fc.string(), (secret, before, after) => {
      const result = redact(before + secret + after, [secret]);
      // The mark itself has letters that a short secret may consist of.
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
