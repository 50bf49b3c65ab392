import { expect, test } from 'vitest';
import { FairTurns } from './fair-turns.ts';

const parties = { noisy: {}, one: {}, two: {} };
type Name = keyof typeof parties;

function someTurns(items: Readonly<Record<string, Name>>) {
  const turns = new FairTurns<string>();
  for (const [item, name] of Object.entries(items)) turns.add(item, parties[name]);
  const all = () => {
    const taken: string[] = [];
    for (let item = turns.take(); item !== undefined; item = turns.take()) taken.push(item);
    return taken;
  };
  return { turns, all };
}

test('FairTurns gives each party a turn, and keeps the order within each party', () => {
  const { all } = someTurns({ n1: 'noisy', n2: 'noisy', n3: 'noisy', o1: 'one', o2: 'one', t1: 'two' });
  expect(all()).toEqual(['n1', 'o1', 't1', 'n2', 'o2', 'n3']);
});

test('FairTurns gives a party with many waiting no more turns than parties that come one after the other', () => {
  const { turns } = someTurns({ n1: 'noisy', n2: 'noisy', n3: 'noisy', n4: 'noisy', one: 'one' });
  const taken: string[] = [];
  // Only one of the two others waits at any time, as when few workers are free.
  for (let count = 0; count < 9; count++) {
    const item = turns.take() ?? '';
    taken.push(item[0] ?? '');
    if (item === 'one') turns.add('two', parties.two);
    if (item === 'two') turns.add('one', parties.one);
  }
  expect(taken.join('')).toBe('notnotnot');
});

test('FairTurns saves up no turns for a party that did not wait', () => {
  const { turns, all } = someTurns({ n1: 'noisy', n2: 'noisy', n3: 'noisy', n4: 'noisy' });
  expect([turns.take(), turns.take()]).toEqual(['n1', 'n2']);
  for (const item of ['o1', 'o2', 'o3']) turns.add(item, parties.one);
  expect(all()).toEqual(['o1', 'n3', 'o2', 'n4', 'o3']);
});

test('FairTurns forgets parties that had their turns, even if somebody always waits', () => {
  const { turns } = someTurns({ n1: 'noisy' });
  for (let count = 0; count < 1_000; count++) {
    turns.add(`n-${count}`, parties.noisy);
    turns.add(`other-${count}`, {});
    expect([turns.take(), turns.take()]).not.toContain(undefined);
  }
  expect([turns.size, turns.parties < 5]).toEqual([1, true]);
});

test('FairTurns forgets who has left', () => {
  const { turns, all } = someTurns({ n1: 'noisy', o1: 'one', n2: 'noisy' });
  turns.delete('n1');
  turns.delete('n1');
  expect(turns.size).toBe(2);
  expect(all()).toEqual(['o1', 'n2']);
  expect([turns.take(), turns.size]).toEqual([undefined, 0]);
});

test.each<[Name, number]>([
  ['noisy', 5],
  ['one', 3],
  ['two', 2],
])('FairTurns knows how many turns come before the next one of %s', (name, expected) => {
  const { turns } = someTurns({ n1: 'noisy', n2: 'noisy', n3: 'noisy', n4: 'noisy', o1: 'one' });
  expect(turns.turnsBefore(parties[name])).toBe(expected);
});

test('FairTurns counts no turns of parties that have nothing waiting any more', () => {
  const { turns } = someTurns({ n1: 'noisy', n2: 'noisy', n3: 'noisy', o1: 'one' });
  expect([turns.take(), turns.take()]).toEqual(['n1', 'o1']);
  expect(turns.turnsBefore(parties.two)).toBe(1);
});
