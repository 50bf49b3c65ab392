import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { UsageError } from '../plugin/command-line/arguments.ts';
import { readInput } from './input.ts';

test('readInput() waits for a writer that has nothing yet', async () => {
  const stdin = new PassThrough();
  const read = readInput(stdin, new AbortController().signal);
  await new Promise(setImmediate);
  stdin.write('kind: ');
  await new Promise(setImmediate);
  stdin.end('List\n');
  expect(await read).toBe('kind: List\n');
});

test('readInput() ends with Ctrl-C, and says why it cannot read', async () => {
  const abort = new AbortController();
  const read = readInput(new PassThrough(), abort.signal);
  abort.abort();
  await expect(read).rejects.toMatchObject({ name: 'AbortError' });
  const broken = new PassThrough();
  broken.destroy(new Error('EISDIR'));
  const mistake = readInput(broken, new AbortController().signal);
  await expect(mistake).rejects.toThrow(UsageError);
  await expect(mistake).rejects.toThrow('standard input cannot be read: EISDIR');
});
