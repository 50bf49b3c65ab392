import fc from 'fast-check';
import { expect, test } from 'vitest';
import { manualClock } from '../../test/support/clock.ts';
import { streamOf } from '../../test/support/http.ts';
import { Pace } from '../base/pace.ts';
import { BadAnswer, JsonSplitter, parseJson, readSplitJson, type SplitOptions } from './json-stream.ts';

const LIMITS = { maxBytes: 1_000_000, maxElementBytes: 100_000, maxElements: 1_000 };

function read(chunks: readonly (string | Uint8Array)[], options: Partial<SplitOptions> = {}) {
  return readSplitJson(streamOf(chunks), { ...LIMITS, ...options }, new Pace(manualClock()), (bytes) =>
    parseJson(bytes),
  );
}

/** Yields the bytes in pieces of the given sizes, again and again. */
function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let start = 0, turn = 0; start < bytes.length; turn++) {
    const size = Math.max(1, sizes[turn % Math.max(1, sizes.length)] ?? bytes.length);
    pieces.push(bytes.subarray(start, start + size));
    start += size;
  }
  return pieces;
}

test.each([
  ['[]', []],
  [' [ ] ', []],
  ['[1]', [1]],
  ['[ 1 , "a,]\\"[" , {"b":[1,{"c":"}"}]} , null,[[]],[ ] ]\n', [1, 'a,]"[', { b: [1, { c: '}' }] }, null, [[]], []]],
  ['["\\\\"]', ['\\']],
  ['\ufeff[1]', [1]],
])('readSplitJson() reads the array %j', async (text, elements) => {
  expect(await read([text])).toEqual({ outer: [], elements });
});

test('readSplitJson() reads null as an array without elements', async () => {
  expect(await read(['null'])).toEqual({ outer: null, elements: [] });
});

test.each([
  ['{"answers":[1,2]}', [1, 2], { answers: [] }],
  ['{"a":{"answers":[9]},"answers":[1],"z":[3]}', [1], { a: { answers: [9] }, answers: [], z: [3] }],
  ['{"\\u0061nswers" : [ {"answers":[5]} ]}', [{ answers: [5] }], { answers: [] }],
  ['{"answers":null}', [], { answers: null }],
  ['{"a":"answers","b":[1]}', [], { a: 'answers', b: [1] }],
  ['{"answers":[],"x":1}', [], { answers: [], x: 1 }],
  ['{}', [], {}],
  ['{"__proto__":[1],"answers":[2]}', [2], JSON.parse('{"__proto__":[1],"answers":[]}')],
])('readSplitJson() reads the member of %j', async (text, elements, outer) => {
  expect(await read([text], { member: 'answers' })).toEqual({ outer, elements });
});

test.each([
  '',
  '  ',
  '[',
  '[1',
  '[1,',
  '[1,]',
  '[,1]',
  '[1,,2]',
  '[1}',
  '[1]]',
  '[1] x',
  '[1][2]',
  '[{]}]',
  '["a]',
  '["\u0001"]',
  '<html>',
  '{"a":1}',
  '1',
  '"x"',
  'x[1]',
  '[01]',
])('readSplitJson() refuses the array %j', async (text) => {
  await expect(read([text])).rejects.toThrow(BadAnswer);
});

test.each([
  ['{"items":[{}]}', ', but an object with "items"'],
  ['{"data":[],"canary":1}', ', but an object with "data"'],
  ['{"canary":[]}', ', but an object'],
  ['1', ', but a number'],
])(
  'readSplitJson() says what %j is instead of an array, with no text of it except expected names',
  async (text, words) => {
    await expect(read([text])).rejects.toThrow(new RegExp(`^the answer is not an array${words}$`));
  },
);

test.each([
  '[1]',
  'null',
  '{"answers":1}',
  '{"answers":{}}',
  '{"answers":[1],"answers":[2]}',
  '{"answers":[1]',
  '{"answers":[1}}',
  '{"answers"[1]}',
  '{answers:[1]}',
  '{"answers":[1]x}',
])('readSplitJson() refuses the object %j', async (text) => {
  await expect(read([text], { member: 'answers' })).rejects.toThrow(BadAnswer);
});

test.each([
  ['the whole', [`[${`"${'x'.repeat(2_000)}",`.repeat(500)}1]`]],
  ['one element', [`["${'x'.repeat(100_001)}"]`]],
  ['an element that never ends', ['["', 'x'.repeat(60_000), 'x'.repeat(60_000)]],
  ['the text around the elements', [`[1]${' '.repeat(100_001)}`]],
])('readSplitJson() refuses a text in which %s is too large', async (_, chunks) => {
  await expect(read(chunks)).rejects.toThrow('larger than');
});

test('readSplitJson() parses no more elements than allowed', async () => {
  const made: number[] = [];
  const chunks = [`[${'{},'.repeat(1_000)}`, '{},{}]'];
  const reading = readSplitJson(streamOf(chunks), LIMITS, new Pace(manualClock()), (_, index) => made.push(index));
  await expect(reading).rejects.toThrow('the answer has more than 1000 elements');
  expect(made).toHaveLength(1_000);
});

test('readSplitJson() finds its member by a key that is cut anywhere, even within an escape', async () => {
  const bytes = Buffer.from('{"a\\\\":["\\\\\\""],"\\u0061nswers":["\\\\","\\"]",{"a":"}"}]}');
  const { answers, ...outer } = JSON.parse(bytes.toString());
  for (let first = 1; first < bytes.length; first++) {
    const pieces = [bytes.subarray(0, first), Buffer.alloc(0), bytes.subarray(first)];
    expect(await read(pieces, { member: 'answers' })).toEqual({ outer: { ...outer, answers: [] }, elements: answers });
  }
});

test('readSplitJson() refuses nesting too deep for code that walks through it', async () => {
  await expect(read([`[${'['.repeat(600)}${']'.repeat(600)}]`])).rejects.toThrow('nested too deeply');
});

test('readSplitJson() refuses invalid UTF-8 instead of guessing characters', async () => {
  await expect(read([Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d])])).rejects.toThrow('UTF-8');
});

test('readSplitJson() accepts any key, however long', async () => {
  const key = 'k'.repeat(5000);
  expect((await read([`{"${key}":[1],"answers":[2]}`], { member: 'answers' })).elements).toEqual([2]);
});

test('readSplitJson() gives other work a turn between elements', async () => {
  const clock = manualClock();
  let rests = 0;
  const yieldNow = async () => {
    rests++;
  };
  const slowly = () => clock.advance(1);
  const text = JSON.stringify(Array.from({ length: 100 }, (_, index) => index));
  await readSplitJson(streamOf([text]), LIMITS, new Pace({ ...clock, yieldNow }, 5), slowly);
  expect(rests).toBe(20);
});

test('readSplitJson() reads any JSON array however it is cut, even within characters', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue()), fc.array(fc.integer({ min: 1, max: 7 })), async (value, sizes) => {
      const bytes = Buffer.from(JSON.stringify(value, null, sizes.length % 3));
      expect((await read(cut(bytes, sizes))).elements).toEqual(JSON.parse(bytes.toString()));
    }),
  );
});

test('readSplitJson() reads a member of any JSON object however it is cut', async () => {
  const objects = fc.dictionary(fc.string(), fc.jsonValue());
  await fc.assert(
    fc.asyncProperty(objects, fc.array(fc.jsonValue()), fc.array(fc.nat(7)), async (object, answers, sizes) => {
      const { answers: _, ...others } = object;
      const bytes = Buffer.from(JSON.stringify({ ...others, answers, after: 'x' }));
      const result = await read(cut(bytes, sizes), { member: 'answers' });
      expect(result.elements).toEqual(JSON.parse(JSON.stringify(answers)));
      expect(result.outer).toEqual(JSON.parse(JSON.stringify({ ...others, answers: [], after: 'x' })));
    }),
  );
});

test('readSplitJson() agrees with JSON.parse on every damaged text, or refuses it', async () => {
  const damaged = fc
    .tuple(fc.array(fc.jsonValue()), fc.nat(), fc.uint8Array({ maxLength: 3 }), fc.nat(4))
    .map(([value, at, bytes, removed]) => {
      const text = Buffer.from(JSON.stringify(value));
      const place = at % (text.length + 1);
      return Buffer.concat([text.subarray(0, place), bytes, text.subarray(place + removed)]);
    });
  await fc.assert(
    fc.asyncProperty(damaged, async (bytes) => {
      const result = await read(cut(bytes, [3])).catch((error: unknown) => error);
      if (result instanceof BadAnswer) return;
      expect(result).toEqual({ outer: [], elements: JSON.parse(bytes.toString()) });
    }),
    { numRuns: 500 },
  );
});

test('parseJson() keeps long integers exact if asked to', () => {
  const bytes = Buffer.from('{"a":9007199254740993,"b":-9007199254740993,"c":1.2345678901234567,"d":[12]}');
  expect(parseJson(bytes, true)).toEqual({
    a: 9007199254740993n,
    b: -9007199254740993n,
    c: 1.2345678901234567,
    d: [12],
  });
  expect(parseJson(Buffer.from('9007199254740993'))).toBeTypeOf('number');
});

test('parseJson() quotes nothing of what it refuses', () => {
  expect(() => parseJson(Buffer.from('secret'))).toThrow(/^the answer is not valid JSON$/);
});

test('JsonSplitter keeps no more than the limit of one element', () => {
  const splitter = new JsonSplitter({ maxBytes: 1_000_000, maxElementBytes: 10, maxElements: 10 });
  expect(splitter.push(Buffer.from('[1,2,'))).toHaveLength(2);
  expect(() => splitter.push(Buffer.from('"0123456789"'))).toThrow('one element of the answer is larger than 10 bytes');
});
