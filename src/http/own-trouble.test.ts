import { expect, test } from 'vitest';
import { OwnTrouble } from './own-trouble.ts';

function aTrouble() {
  const trouble = new OwnTrouble();
  const parties = { a: {}, b: {}, c: {} };
  return {
    through: (party: keyof typeof parties, operation: string) => trouble.letThrough(parties[party], operation),
    refused: (party: keyof typeof parties, operation: string, isNews = true) =>
      trouble.refused(parties[party], operation, isNews),
  };
}

test('OwnTrouble recognizes the operation of a party that is refused while its other operations are let through', () => {
  const { through, refused } = aTrouble();
  expect(refused('a', 'deploy')).toBe('new');
  through('a', 'list');
  through('b', 'deploy');
  expect(refused('a', 'deploy')).toBe('own');
  // Even if nobody was let through since: nobody else asked.
  expect(refused('a', 'deploy')).toBe('own');
  expect(refused('a', 'list')).toBe('new');
  through('a', 'deploy');
  expect(refused('a', 'deploy')).not.toBe('own');
});

test('OwnTrouble recognizes a party that is refused whatever it asks, and an operation that is refused whoever asks', () => {
  const { through, refused } = aTrouble();
  refused('a', 'deploy');
  through('b', 'list');
  expect(refused('a', 'list')).toBe('own');
  expect(refused('c', 'deploy')).toBe('own');
  expect(refused('c', 'list')).toBe('new');
});

test('OwnTrouble says whether the same party or operation is refused again while nobody is let through', () => {
  const { through, refused } = aTrouble();
  through('b', 'list');
  expect([refused('a', 'deploy'), refused('a', 'deploy'), refused('a', 'list'), refused('b', 'list')]).toEqual([
    'new',
    'same',
    'again',
    'new',
  ]);
});

test('OwnTrouble learns nothing from requests sent before the last trouble was known', () => {
  const { through, refused } = aTrouble();
  refused('a', 'deploy');
  through('b', 'list');
  expect(refused('a', 'deploy', false)).toBe('same');
  expect(refused('a', 'deploy')).toBe('own');
  expect(refused('a', 'deploy', false)).toBe('own');
});
