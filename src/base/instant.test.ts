import { expect, test } from 'vitest';
import { instant } from './instant.ts';

test('instant() shows seconds, and drops fractions', () => {
  expect(instant(Date.UTC(2026, 10, 21, 9, 30, 0, 999))).toBe('2026-11-21T09:30:00Z');
});
