import fc from 'fast-check';
import { expect, test } from 'vitest';
import { baseURLProblem, givenSegmentProblem, joinURL, segmentProblem } from './api-url.ts';

test.each([
  '',
  '.',
  '..',
  '../x',
  'a/b',
  'a\\b',
  '..\\..',
  '%2e%2e',
  '%2F',
  'a%00',
  'a\u0000',
  'a\nb',
  '\u007f',
  '\u0085',
  '\ud800',
])('segmentProblem() refuses %j', (name) => {
  expect(segmentProblem(name)).toBeTypeOf('string');
});

test.each(['orders', 'a-b_c', '...', '.hidden', 'größe', '数据', 'a b', 'a?b', 'a#b', 'a;b', "it's", '😀', 'a:b@c'])(
  'segmentProblem() accepts %j, and joinURL() keeps it one segment',
  (name) => {
    expect(segmentProblem(name)).toBeUndefined();
    const url = new URL(joinURL('https://host/base/', ['v1', 'users', name, 'x']));
    expect(url.pathname.split('/').map(decodeURIComponent)).toEqual(['', 'base', 'v1', 'users', name, 'x']);
    expect(url.search + url.hash).toBe('');
  },
);

test.each([segmentProblem, givenSegmentProblem])(
  'a name that passes %o never reaches another resource',
  (problemOf) => {
    const names = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^[./%\\2eEfF?#;@:]{0,6}$/),
      fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
    );
    fc.assert(
      fc.property(names, (name) => {
        if (problemOf(name) !== undefined) return;
        const url = new URL(joinURL('https://host', ['clusters', name, 'suspend']));
        expect(url.origin).toBe('https://host');
        expect(url.pathname.split('/').map(decodeURIComponent)).toEqual(['', 'clusters', name, 'suspend']);
        expect(url.search + url.hash).toBe('');
      }),
    );
  },
);

test.each([
  ['https://cloud.example.com', undefined],
  ['http://127.0.0.1:8080/', undefined],
  ['https://cloud.example.com/some/path/', undefined],
  ['cloud.example.com', 'not a URL'],
  ['ftp://cloud.example.com', 'neither https nor http'],
  ['file:///etc/passwd', 'neither https nor http'],
  ['https://user:pw@cloud.example.com', 'login'],
  ['https://cloud.example.com/?a=b', 'query'],
  ['https://cloud.example.com/#a', 'fragment'],
  ['', 'not a URL'],
])('baseURLProblem() of %j is %s', (url, problem) => {
  if (problem === undefined) expect(baseURLProblem(url)).toBeUndefined();
  else expect(baseURLProblem(url)).toContain(problem);
});
