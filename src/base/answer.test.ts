import { expect, test } from 'vitest';
import { z } from 'zod';
import { anAnswer } from '../../test/support/http.ts';
import { readBytes, readJson, readNothing, readTextAnswer, shaped } from './answer.ts';

const schema = z.object({ a: z.object({ b: z.array(z.string()) }) });

test('readJson() reads a value that fits, dropping what it does not know', async () => {
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

test.each([
  [['<!doctype html>'], {}],
  [['\n <html>'], {}],
  [['anything'], { 'content-type': 'text/html; charset=utf-8' }],
])('readNothing() takes the web page %j for a wrong answer', async (chunks, headers) => {
  await expect(readNothing(anAnswer(chunks, headers))).rejects.toThrow('web page');
});

test.each([[[]], [['']], [['ok']], [['{"any":1}']]])('readNothing() takes %j for nothing', async (chunks) => {
  await readNothing(anAnswer(chunks));
});

test('readBytes() refuses what is larger than its limit, without reading the rest', async () => {
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

test('readTextAnswer() joins letters that were cut', async () => {
  const bytes = Buffer.from('größe');
  expect(await readTextAnswer(anAnswer([bytes.subarray(0, 3), bytes.subarray(3)]))).toBe('größe');
});
