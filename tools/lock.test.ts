import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withLock } from './lock.mjs';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('withLock() lets one in at a time and tells the other once that it waits', async () => {
  const path = join(folder, 'lock');
  const steps: string[] = [];
  const released = Promise.withResolvers<void>();
  const first = withLock(
    path,
    () => steps.push('first waits'),
    async () => {
      steps.push('first in');
      await released.promise;
      steps.push('first out');
    },
  );
  const second = withLock(
    path,
    () => released.resolve(),
    async () => steps.push('second in'),
  );
  await Promise.all([first, second]);
  expect(steps).toEqual(['first in', 'first out', 'second in']);
});

test('withLock() returns what was returned and releases the lock when something is thrown', async () => {
  const path = join(folder, 'lock');
  const wait = () => {};
  await expect(withLock(path, wait, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(existsSync(path)).toBe(false);
  expect(await withLock(path, wait, async () => 7)).toBe(7);
});

test('withLock() takes over a lock whose holder died', async () => {
  const path = join(folder, 'lock');
  mkdirSync(path);
  const longAgo = new Date(Date.now() - 60_000);
  utimesSync(path, longAgo, longAgo);
  expect(
    await withLock(
      path,
      () => {},
      async () => 'in',
    ),
  ).toBe('in');
});
