import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { anAnswer } from '../../test/support/http.ts';
import type { HttpResponse } from '../base/transport.ts';
import { maybe, pagelessBody, readBytes, readIfAny, readJson, readNothing, readTextAnswer, shaped } from './answer.ts';

const schema = z.object({ a: z.object({ b: z.array(z.string()) }) });

test('readJson() reads a value that fits, and drops unknown fields', async () => {
  expect(await readJson(anAnswer(['{"a":{"b":["x"],', '"c":1}}']), schema)).toEqual({ a: { b: ['x'] } });
});

test('readJson() says where a value does not fit, without quoting it', async () => {
  const error = readJson(anAnswer(['{"a":{"b":["x",4711]}}']), schema);
  await expect(error).rejects.toThrow(/^the answer makes no sense at a\.b\.1: .*expected string/);
  await expect(error).rejects.not.toThrow('4711');
});

test('shaped() puts the place of the value in front', () => {
  expect(() => shaped(z.string(), 1, 'answers.3')).toThrow('at answers.3:');
  expect(() => shaped(z.string(), 1, '')).toThrow(/no sense: /);
});

const LABELS = [{}, { 'content-type': 'text/html; charset=utf-8' }, { 'content-type': 'application/json' }];
const labelled = <T>(all: readonly T[]) => all.flatMap((one) => LABELS.map((headers) => [one, headers] as const));

test.each(labelled([['<!doctype html>'], ['\n <html>'], ['\n', ' <html>'], ['\ufeff<html>']]))(
  'readNothing() treats the web page %j as a wrong answer, labelled %j',
  async (chunks, headers) => {
    await expect(readNothing(anAnswer(chunks, headers))).rejects.toThrow('web page');
  },
);

test.each(labelled([[], [''], ['ok'], ['{"any":1}']]))(
  'readNothing() treats %j as nothing, labelled %j',
  async (chunks, headers) => {
    await readNothing(anAnswer(chunks, headers));
  },
);

async function piecesOf(response: HttpResponse): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for await (const piece of pagelessBody(response)) pieces.push(piece);
  return pieces;
}

// Express labels every string that way, and PHP everything without another label.
test('Answers count as what they contain, even if they are labelled text/html', async () => {
  const [, html] = LABELS;
  expect(await readTextAnswer(anAnswer(['abc.def'], html))).toBe('abc.def');
  expect(await readJson(anAnswer(['{"a":{"b":[]}}'], html), schema)).toEqual({ a: { b: [] } });
  const pieces = await piecesOf(anAnswer(['[1', ',2]'], html));
  expect(Buffer.concat(pieces).toString()).toBe('[1,2]');
});

test('pagelessBody() looks only at the beginning: a later piece may begin like a page', async () => {
  for (const chunks of [
    ['["', '<a>"]'],
    ['[', '"<a>"', '<'],
  ])
    expect(Buffer.concat(await piecesOf(anAnswer(chunks))).toString()).toBe(chunks.join(''));
});

test('maybe() treats null as absent, and keeps other values', () => {
  expect([maybe(z.string()).parse(null), maybe(z.string()).parse('a')]).toEqual([undefined, 'a']);
});

test.each(labelled([['<html>'], ['', '<html>'], ['\ufeff <!doctype']]))(
  'pagelessBody() treats the web page %j as a wrong answer, labelled %j',
  async (chunks, headers) => {
    await expect(piecesOf(anAnswer(chunks, headers))).rejects.toThrow('web page');
  },
);

test('Compressed answers without a label are recognized by their beginning', async () => {
  const packed = gzipSync('[1]');
  for (const reading of [
    readTextAnswer(anAnswer([packed])),
    readJson(anAnswer([packed]), schema),
    piecesOf(anAnswer([packed])),
  ])
    await expect(reading).rejects.toThrow('the answer is gzip-encoded, though identity was asked for');
});

test('readBytes() refuses a body larger than its limit, without reading the rest', async () => {
  let sent = 0;
  async function* endless() {
    for (;;) {
      sent++;
      yield Buffer.alloc(100);
    }
  }
  await expect(readBytes({ status: 200, headers: {}, body: endless() }, 1000)).rejects.toThrow(
    'larger than 1000 bytes',
  );
  expect(sent).toBe(11);
});

test('readTextAnswer() joins characters that were cut', async () => {
  const bytes = Buffer.from('größe');
  expect(await readTextAnswer(anAnswer([bytes.subarray(0, 3), bytes.subarray(3)]))).toBe('größe');
});

const CHUNKED = { 'transfer-encoding': 'chunked' };

test.each([
  [204, {}, []],
  [200, { 'content-length': '0' }, []],
  // As from a proxy that passes bodies on in chunks.
  [200, CHUNKED, []],
  [200, CHUNKED, ['', '\r\n']],
])('readIfAny() takes status %d with headers %j and body %j for no answer', async (status, headers, chunks) => {
  const read = () => Promise.reject(new Error('There is nothing to read'));
  expect(await readIfAny({ ...anAnswer(chunks, headers), status }, read)).toBeUndefined();
});

test('readIfAny() leaves it to the reader if nothing says where the body ends: it may have broken off', async () => {
  await expect(readIfAny(anAnswer([]), (any) => readJson(any, schema))).rejects.toThrow('the answer is empty');
});

test('readIfAny() gives the whole answer to its reader, and leaves the body when that leaves it', async () => {
  const chunks = [' ', '{"a":', '{"b":["x"]}}'];
  for (const headers of [{}, CHUNKED])
    expect(await readIfAny(anAnswer(chunks, headers), (any) => readJson(any, schema))).toEqual({ a: { b: ['x'] } });
  let isLeft = false;
  const body = (async function* () {
    try {
      yield Buffer.from('<html>');
      yield Buffer.from('more');
    } finally {
      isLeft = true;
    }
  })();
  await expect(readIfAny({ status: 200, headers: CHUNKED, body }, piecesOf)).rejects.toThrow('web page');
  expect(isLeft).toBe(true);
});
