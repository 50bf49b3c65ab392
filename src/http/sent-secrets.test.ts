import { expect, test } from 'vitest';
import { manualClock } from '../../test/support/clock.ts';
import { SentSecrets } from './sent-secrets.ts';

const SERVER = 'https://server.example.com';

test('SentSecrets keeps each secret that was sent once', () => {
  const sent = new SentSecrets(manualClock());
  expect(sent.all(SERVER)).toEqual([]);
  sent.note(SERVER, ['first', 'second']);
  sent.note(SERVER, ['first', '', 'abc']);
  expect(sent.all(SERVER)).toEqual(['second', 'first']);
});

test('SentSecrets forgets what has not been sent for an hour', () => {
  const clock = manualClock();
  const sent = new SentSecrets(clock);
  sent.note(SERVER, ['replaced', 'kept']);
  clock.advance(3_000_000);
  sent.note(SERVER, ['kept']);
  clock.advance(1_000_000);
  expect(sent.all(SERVER)).toEqual(['kept']);
});

test('SentSecrets keeps a bounded number of secrets and of characters', () => {
  const sent = new SentSecrets(manualClock());
  sent.note(
    SERVER,
    Array.from({ length: 100 }, (_, index) => `secret ${index}`),
  );
  expect(sent.all(SERVER)).toHaveLength(64);
  expect(sent.all(SERVER).at(-1)).toBe('secret 99');
  const long = ['1', '2', '3'].map((letter) => letter.repeat(4_000));
  sent.note(SERVER, long);
  expect(sent.all(SERVER)).toEqual(long.slice(1));
  sent.note(SERVER, ['x'.repeat(100_000)]);
  expect(sent.all(SERVER)).toHaveLength(1);
});

test('SentSecrets keeps the secrets of each server separately, and with thousands of servers the last ones sent', () => {
  const sent = new SentSecrets(manualClock());
  for (let server = 1; server <= 3_000; server++)
    sent.note(`https://${server}.example.com`, ['the same', `of ${server}`]);
  expect(sent.all('https://3000.example.com')).toEqual(['the same', 'of 3000']);
  expect(sent.all('https://2500.example.com')).toEqual(['the same', 'of 2500']);
  expect(sent.all('https://1.example.com')).toEqual([]);
});

test('SentSecrets with thousands of servers forgets those called longest ago, whatever was first sent to them', () => {
  const sent = new SentSecrets(manualClock());
  sent.note(SERVER, ['of the first']);
  for (let server = 1; server <= 1_500; server++) sent.note(`https://${server}.example.com`, [`of ${server}`]);
  sent.note(SERVER, ['of the last']);
  for (let server = 1_501; server <= 3_000; server++) sent.note(`https://${server}.example.com`, [`of ${server}`]);
  expect(sent.all(SERVER)).toEqual(['of the first', 'of the last']);
  expect(sent.all('https://900.example.com')).toEqual([]);
});
