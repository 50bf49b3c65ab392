import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { differenceOf, isManyLines } from './difference.ts';

const show = (from: unknown, to: unknown) => differenceOf(from, to).map(({ mark, text }) => `${mark}${text}`);
const source = (...lines: readonly string[]) => [{ inline: `${['define', ...lines].join('\n')}\n` }];

describe('differenceOf()', () => {
  it('shows lines that are removed and added, with their neighbours and their place', () => {
    const lines = ['attribute a, value string;', 'attribute b, value string;', 'entity x, owns a;', 'entity y;'];
    const changed = lines.with(2, 'entity x, owns a, owns b;');
    expect(show(source(...lines), source(...changed))).toEqual([
      '…',
      '     attribute a, value string;',
      '     attribute b, value string;',
      '-    entity x, owns a;',
      '+    entity x, owns a, owns b;',
      '     entity y;',
    ]);
  });

  it('shows a source that is added, one that is removed, and one that is moved into a ConfigMap', () => {
    const map = { configMapKeyRef: { name: 'schema', key: 'base.tql' } };
    expect(show(undefined, [map])).toEqual(['+- configMapKeyRef:', '+    name: schema', '+    key: base.tql']);
    expect(show(source('entity x;'), undefined)).toEqual(['-- inline: |', '-    define', '-    entity x;']);
    expect(show(source('entity x;'), [map])[0]).toBe('-- inline: |');
  });

  it('says nothing of what is the same', () => {
    expect(show('a\nb', 'a\nb')).toEqual(['…']);
    expect(show(undefined, undefined)).toEqual([]);
  });

  it('finds the few lines that change in a long text', () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `entity e${index};`);
    const edited = (mark: string) => ['define', `first ${mark};`, ...lines, `last ${mark};`].join('\n');
    const neighbours = [' entity e0;', ' entity e1;', '…', ' entity e19998;', ' entity e19999;'];
    expect(show(edited('a'), edited('b'))).toEqual([
      ' define',
      '-first a;',
      '+first b;',
      ...neighbours,
      '-last a;',
      '+last b;',
    ]);
  });

  it('shows everything that is removed, then everything that is added, if finding out what stays would take too long', () => {
    const lines = (mark: string) => Array.from({ length: 1_001 }, (_, index) => `entity ${mark}${index};`);
    const [from, to] = [lines('a'), lines('b')];
    const [gone, come] = [from.map((text) => `-${text}`), to.map((text) => `+${text}`)];
    expect(show([...from, 'end'].join('\n'), [...to, 'end'].join('\n'))).toEqual([...gone, '-end', ...come, '+end']);
  });

  it('leads from one text to the other, whatever they are', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(text, text, (from, to) => {
        const lines = differenceOf(from.join('\n'), to.join('\n'));
        const gone = lines.filter(({ mark }) => mark === '-').map((line) => line.text);
        const come = lines.filter(({ mark }) => mark === '+').map((line) => line.text);
        expect(from.length - gone.length).toBe(to.length - come.length);
        if (lines.some(({ mark }) => mark === '…')) return;
        expect(lines.filter(({ mark }) => mark !== '+').map((line) => line.text)).toEqual(from);
        expect(lines.filter(({ mark }) => mark !== '-').map((line) => line.text)).toEqual(to);
      }),
    );
  });
});

describe('isManyLines()', () => {
  it('is true for lists of objects and texts of several lines, and for nothing else', () => {
    expect(isManyLines(undefined, source('entity x;'))).toBe(true);
    expect(isManyLines('a\nb', 'a')).toBe(true);
    expect(isManyLines(['a'], ['b'])).toBe(false);
    expect(isManyLines({ from: 'Same' }, 5)).toBe(false);
    expect(isManyLines('a\n', undefined)).toBe(false);
  });
});
