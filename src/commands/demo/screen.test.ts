import { expect, test } from 'vitest';
import type { Clock } from '../../base/clock.ts';
import { createScreen, poll } from './screen.ts';

/** A clock that advances by one second whenever it is read, and never waits. */
function fastClock(): Clock {
  let now = 0;
  const tick = () => {
    now += 1_000;
    return now;
  };
  return {
    now: tick,
    monotonic: tick,
    after: (_delayMs, run) => {
      queueMicrotask(run);
      return () => {};
    },
  };
}

function screenOf({
  terminal = false,
  color = false,
  columns,
}: {
  terminal?: boolean;
  color?: boolean;
  columns?: number;
}) {
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  const screen = createScreen({ write, terminal, color, columns, clock: fastClock() });
  return { screen, written: () => written };
}

test('without a terminal each step is one plain line with its time', async () => {
  const { screen, written } = screenOf({});
  expect(
    await screen.step(
      'Operator',
      async () => 7,
      (pid) => `process ${pid}`,
    ),
  ).toBe(7);
  expect(written()).toBe(`  ✓ ${'Operator'.padEnd(24)}    1.0 s   process 7\n`);
});

test('a step that fails is shown as such, and fails', async () => {
  const { screen, written } = screenOf({});
  const failing = screen.step('Operator', async () => {
    throw new Error('no such file');
  });
  await expect(failing).rejects.toThrow('no such file');
  expect(written()).toMatch(/^ {2}✗ Operator +1\.0 s\n$/);
});

test('on a terminal what is running is shown, and replaced', async () => {
  const { screen, written } = screenOf({ terminal: true });
  await screen.step('Operator', async () => screen.note('Building'));
  const [shown, note, result] = written().split('\r\u001b[K');
  expect(shown).toBe('  … Operator');
  expect(note).toBe('      Building\n  … Operator');
  expect(result).toMatch(/^ {2}✓ Operator +1\.0 s\n$/);
});

test('there is colour only where it is wanted', () => {
  expect(screenOf({ color: false }).screen.paint('good', 'Ready')).toBe('Ready');
  expect(screenOf({ color: true }).screen.paint('good', 'Ready')).toBe('\u001b[32mReady\u001b[0m');
});

test('text is cut to the width only on a terminal, and only if that leaves something to read', () => {
  const text = 'a'.repeat(100);
  expect(screenOf({ columns: 80 }).screen.fit(text)).toBe(`${'a'.repeat(79)}…`);
  expect(screenOf({ columns: 20 }).screen.fit(text)).toBe(text);
  expect(screenOf({}).screen.fit(text)).toBe(text);
});

test('polling ends with what is found, when time is over, and when it is told to', async () => {
  const { signal } = new AbortController();
  let left = 3;
  const found = await poll(() => (--left === 0 ? 'found' : undefined), {
    clock: fastClock(),
    everyMs: 1,
    forMs: 60_000,
    signal,
  });
  expect(found).toBe('found');
  const late = await poll(() => undefined, { clock: fastClock(), everyMs: 1, forMs: 5_000, signal });
  expect(late).toBeUndefined();
  const ended = await poll(() => undefined, {
    clock: fastClock(),
    everyMs: 1,
    forMs: 5_000,
    signal: AbortSignal.abort(),
  });
  expect(ended).toBeUndefined();
});
