import { expect, test } from 'vitest';
import { generatePassword, randomFrom, systemRandom, uuid } from './random.ts';

test('generatePassword() makes passwords of 32 characters that are safe in shells, URLs and YAML', () => {
  const passwords = Array.from({ length: 200 }, () => generatePassword(systemRandom));
  for (const password of passwords) expect(password).toMatch(/^[a-km-zA-HJ-NP-Z2-9]{32}$/);
  expect(new Set(passwords).size).toBe(200);
});

test('generatePassword() favours no character', () => {
  const counts = new Map<string, number>();
  for (let count = 0; count < 1_000; count++) {
    for (const character of generatePassword(systemRandom)) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  const expected = 32_000 / counts.size;
  expect(counts.size).toBe(57);
  // Six standard deviations: fails by chance once in some ten million runs.
  for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(6 * Math.sqrt(expected));
});

test('generatePassword() discards bytes that would favour some characters', () => {
  let calls = 0;
  const random = { float: () => 0, bytes: (count: number) => new Uint8Array(count).fill(calls++ === 0 ? 255 : 0) };
  expect(generatePassword(random)).toBe('a'.repeat(32));
});

test('uuid() makes UUIDs of version 4', () => {
  const ids = Array.from({ length: 100 }, () => uuid(systemRandom));
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(ids).size).toBe(100);
});

test('systemRandom gives as many bytes as asked for, and no byte twice', () => {
  const counts = [0, 4, 16, 5_000, 4_090, 32, 4_096, ...Array.from({ length: 1_100 }, () => 8)];
  const drawn = counts.map((count) => systemRandom.bytes(count));
  expect(drawn.map(({ length }) => length)).toEqual(counts);
  // 8 bytes are equal by chance once in 2^42 runs.
  const pieces = drawn.flatMap((bytes) =>
    Array.from({ length: Math.floor(bytes.length / 8) }, (_, index) =>
      Buffer.from(bytes.subarray(8 * index, 8 * index + 8)).toString('hex'),
    ),
  );
  expect(new Set(pieces).size).toBe(pieces.length);
});

test('only small ids are drawn in advance: the bytes of a password or a UUID are drawn for it alone', () => {
  const filled: Uint8Array[] = [];
  const random = randomFrom((bytes) => void filled.push(bytes.fill(filled.length)));
  const small = [random.bytes(4), random.bytes(8)];
  expect(generatePassword(random)).toBe('b'.repeat(32));
  expect(uuid(random)).toMatch(/^02020202-/);
  small.push(random.bytes(4));
  expect(filled.map(({ length }) => length)).toEqual([4_096, 32, 16]);
  expect(small.map((bytes) => Buffer.from(bytes).toString('hex'))).toEqual([
    '00000000',
    '0000000000000000',
    '00000000',
  ]);
});
