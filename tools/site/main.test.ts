import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { run } from '../control-plane/run.ts';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));

test('npm run docs says what it accepts, and what is wrong', async () => {
  const usage = expect.stringMatching(/^Usage: npm run docs -- /m);
  expect(await run(process.execPath, [MAIN, '--help'])).toMatchObject({ code: 0, stdout: usage, stderr: '' });
  const wrong = await run(process.execPath, [MAIN, '--sreve']);
  expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: usage });
  expect(wrong.stderr).toMatch(/^Unknown option '--sreve'/);
});
