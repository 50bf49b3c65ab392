import { expect, test } from 'vitest';
import { anAnswer } from '../../test/support/http.ts';
import { BadAnswer } from '../http/json-stream.ts';
import { readSchemaText, sameName } from './plain-answers.ts';

test.each([
  ['"define\\nentity person;"', 'define\nentity person;'],
  ['""', ''],
  [' "define" \n', 'define'],
  ['', ''],
  ['define\n\nentity person;\n', 'define\n\nentity person;\n'],
  ['define', 'define'],
  ['# a comment with "quotes"\ndefine', '# a comment with "quotes"\ndefine'],
  ['null', ''],
])('readSchemaText() reads %j', async (body, text) => {
  expect(await readSchemaText(anAnswer([body]))).toBe(text);
});

test.each(['"define', '"a" b', '{"code":"X"}', '[1]', '<html>', ' <!doctype html>'])(
  'readSchemaText() refuses %j',
  async (body) => {
    await expect(readSchemaText(anAnswer([body]))).rejects.toThrow(BadAnswer);
  },
);

test('sameName() treats composed and decomposed letters as the same', () => {
  sameName('ö', 'o\u0308');
  expect(() => sameName('a', 'b')).toThrow(BadAnswer);
});
