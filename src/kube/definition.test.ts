import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { frozen } from '../base/immutable.ts';
import { parseSpec, parseStatus } from './definition.ts';

const definition = {
  spec: z.object({
    size: z.int().min(10).max(1000),
    mode: z.enum(['a', 'b']).default('a'),
    items: z.array(z.object({ name: z.string().max(3) })).optional(),
  }),
  status: z.object({ observedGeneration: z.int().default(-1), id: z.string().optional(), count: z.int().optional() }),
};

describe('parseSpec()', () => {
  test('applies defaults, and drops fields that a newer version may know', () => {
    expect(parseSpec(definition, { size: 10, later: true })).toEqual({ ok: true, spec: { size: 10, mode: 'a' } });
  });

  test('names the field, its value and what it should be', () => {
    expect(parseSpec(definition, { size: 5 })).toEqual({
      ok: false,
      message: 'spec.size cannot be 5: Too small: expected number to be >=10',
    });
  });

  test('names every wrong field at once', () => {
    const result = parseSpec(definition, { mode: 'c', items: [{ name: 'abc' }, { name: 'abcd' }] });
    expect(result).toEqual({
      ok: false,
      message:
        'spec.size is missing: set it; spec.mode cannot be "c": Invalid option: expected one of "a"|"b"; ' +
        'spec.items[1].name cannot be "abcd": Too big: expected string to have <=3 characters',
    });
  });

  test('reads once what can no longer change, and each time what can', () => {
    const raw = { size: 10, items: [{ name: 'abc' }] };
    const first = parseSpec(definition, raw);
    expect(first.ok && parseSpec(definition, raw)).not.toBe(first);
    raw.size = 11;
    expect(parseSpec(definition, raw)).toMatchObject({ spec: { size: 11 } });
    frozen(raw);
    const [one, other] = [parseSpec(definition, raw), parseSpec(definition, raw)];
    if (!one.ok || !other.ok) throw new Error('It cannot be read');
    expect(other.spec).toBe(one.spec);
    // Many have it, so nobody can change it.
    expect(() => one.spec.items?.push({ name: 'new' })).toThrow(TypeError);
    expect(parseStatus({ status: z.object({ size: z.int() }) }, raw)).toEqual({ size: 11 });
  });

  test('shortens a long value', () => {
    const result = parseSpec(definition, { size: 10, mode: 'x'.repeat(500) });
    expect(result.ok ? '' : result.message.length).toBeLessThan(200);
  });

  test.each([undefined, null, 'text', []])('says what is missing when spec is %j', (raw) => {
    expect(parseSpec(definition, raw).ok).toBe(false);
  });
});

describe('parseStatus()', () => {
  test.each([undefined, null, 'text', 7, []])(
    'reads %j as the status of an object that has not been seen yet',
    (raw) => {
      expect(parseStatus(definition, raw)).toEqual({ observedGeneration: -1 });
    },
  );

  test('reads what is readable, and treats the rest as absent', () => {
    expect(parseStatus(definition, { observedGeneration: 3, id: 'x', count: 'many', later: {} })).toEqual({
      observedGeneration: 3,
      id: 'x',
    });
  });
});
