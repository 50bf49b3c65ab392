import { describe, expect, it } from 'vitest';
import { admitIt, admits, matches } from './namespaces.ts';

const LABELS = { team: 'shop', tier: 'gold' };

describe('admits()', () => {
  const never = () => Promise.reject(new Error('labels were asked for'));

  it('admits nobody else by default, without asking for labels', async () => {
    expect(await admits(undefined, never)).toBe(false);
    expect(await admits({ from: 'Same' }, never)).toBe(false);
  });

  it('admits everybody with All, without asking for labels', async () => {
    expect(await admits({ from: 'All' }, never)).toBe(true);
  });

  it('admits what the selector matches', async () => {
    const allowed = { from: 'Selector', selector: { matchLabels: { team: 'shop' } } } as const;
    expect(await admits(allowed, async () => LABELS)).toBe(true);
    expect(await admits(allowed, async () => ({ team: 'other' }))).toBe(false);
  });

  it('admits no namespace that does not exist', async () => {
    expect(await admits({ from: 'Selector' }, async () => undefined)).toBe(false);
  });
});

describe('admitIt()', () => {
  it('names the field if the namespace cannot become admitted by itself', () => {
    const words = "have it added to the space's allowedNamespaces";
    expect(admitIt(undefined, "the space's")).toBe(words);
    expect(admitIt({ from: 'Same' }, "the space's")).toBe(words);
  });

  it('asks for labels if a selector decides, and says how they are noticed, as namespaces are not watched', () => {
    expect(admitIt({ from: 'Selector', selector: { matchLabels: { team: 'a' } } }, "the cluster's")).toBe(
      "have it labelled as the cluster's allowedNamespaces asks, and then annotate this object with a new mooring.dev/reconcile-at, as labels of namespaces are not watched",
    );
  });
});

describe('matches()', () => {
  it('finds no label that is called as what every object has', () => {
    const needs = (operator: 'Exists' | 'DoesNotExist') => ({ matchExpressions: [{ key: 'constructor', operator }] });
    expect(matches(needs('Exists'), {})).toBe(false);
    expect(matches(needs('DoesNotExist'), {})).toBe(true);
    expect(matches(needs('Exists'), Object.fromEntries([['constructor', 'x']]))).toBe(true);
  });

  it.each([
    ['everything with an empty selector', {}, true],
    ['equal labels', { matchLabels: { team: 'shop', tier: 'gold' } }, true],
    ['not when one differs', { matchLabels: { team: 'shop', tier: 'silver' } }, false],
    ['In', { matchExpressions: [{ key: 'team', operator: 'In', values: ['shop', 'x'] }] }, true],
    ['not In others', { matchExpressions: [{ key: 'team', operator: 'In', values: ['x'] }] }, false],
    ['not In without the label', { matchExpressions: [{ key: 'none', operator: 'In', values: ['x'] }] }, false],
    ['NotIn', { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['x'] }] }, true],
    ['NotIn without the label', { matchExpressions: [{ key: 'none', operator: 'NotIn', values: ['x'] }] }, true],
    ['not NotIn its own', { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['shop'] }] }, false],
    ['Exists', { matchExpressions: [{ key: 'team', operator: 'Exists' }] }, true],
    ['not Exists', { matchExpressions: [{ key: 'none', operator: 'Exists' }] }, false],
    ['DoesNotExist', { matchExpressions: [{ key: 'none', operator: 'DoesNotExist' }] }, true],
    ['not DoesNotExist', { matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] }, false],
    [
      'not when one of several does not match',
      { matchLabels: { team: 'shop' }, matchExpressions: [{ key: 'none', operator: 'Exists' }] },
      false,
    ],
  ] as const)('%s', (_what, selector, admitted) => {
    expect(matches(selector as Parameters<typeof matches>[0], LABELS)).toBe(admitted);
  });
});
