import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { streamOf } from '../../test/support/http.ts';
import { readLines } from './lines.ts';

async function linesOf(chunks: readonly (string | Uint8Array)[]): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of readLines(streamOf(chunks))) lines.push(line);
  return lines;
}

test('readLines() gives the same lines wherever the network splits them, even inside a character', async () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ''));
  const cuts = fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(fc.array(line), cuts, async (lines, places) => {
      const bytes = Buffer.from(lines.map((each) => `${each}\n`).join(''));
      const ends = [...places, bytes.length].filter((place) => place <= bytes.length).sort((a, b) => a - b);
      const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
      expect(await linesOf(chunks)).toEqual(lines.filter((each) => each !== '').map((each) => each.toWellFormed()));
    }),
    { seed: 1, numRuns: 500 },
  );
});

test('readLines() gives a line as soon as it is complete', async () => {
  let asked = 0;
  async function* body() {
    asked++;
    yield Buffer.from('one\ntw');
    asked++;
    yield Buffer.from('o\n');
  }
  const lines = readLines(body());
  expect([(await lines.next()).value, asked]).toEqual(['one', 1]);
  expect([(await lines.next()).value, asked]).toEqual(['two', 2]);
});

test('readLines() drops a last line without an end: the stream broke inside it', async () => {
  expect(await linesOf(['{"type":"ADDED"}\n{"type":'])).toEqual(['{"type":"ADDED"}']);
});

test('readLines() takes time in proportion to the number of small pieces', async () => {
  const pieces = Array.from({ length: 50_000 }, () => 'x');
  expect((await linesOf([...pieces, '\n']))[0]).toHaveLength(50_000);
});

test('readLines() gives up a line that does not end, and reads any number of others', async () => {
  const mebibyte = Buffer.alloc(1024 * 1024, 'x');
  async function* endless() {
    for (;;) yield mebibyte;
  }
  await expect(readLines(endless()).next()).rejects.toMatchObject({ kind: 'tooLarge' });
  const lines = await linesOf(Array.from({ length: 20 }, () => [mebibyte, '\n']).flat());
  expect(lines.map(({ length }) => length)).toEqual(Array.from({ length: 20 }, () => mebibyte.length));
});
