import { expect, test } from 'vitest';
import { piecesOf } from './secret-pieces.ts';

const SECRET = 'correct-horse-battery';

test.each([
  ['as it is', SECRET],
  ['cut off', 'correct-hor[redacted]'],
  ['without its beginning', '[redacted]se-battery'],
  ...[0, 1, 2].map((before) => [
    `in base64 behind ${before} bytes`,
    Buffer.from(`${'x'.repeat(before)}${SECRET}:y`).toString('base64'),
  ]),
])('piecesOf() finds a secret %s', (_, shown) => {
  expect(piecesOf(SECRET).some((piece) => shown?.includes(piece))).toBe(true);
});

test('piecesOf() finds nothing in what shows no secret', () => {
  expect(piecesOf(SECRET).some((piece) => 'password of app: [redacted]'.includes(piece))).toBe(false);
});
