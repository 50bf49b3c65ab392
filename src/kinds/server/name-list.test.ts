import { expect, test } from 'vitest';
import { manualClock } from '../../../test/support/clock.ts';
import { NameList } from './name-list.ts';

const { signal } = new AbortController();

/** A list of names that is requested by hand. */
function aList() {
  const clock = manualClock();
  const names = new NameList(clock);
  const asked: ((found: readonly string[]) => void)[] = [];
  const list = () => new Promise<readonly string[]>((resolve) => asked.push(resolve));
  return { clock, names, asked, get: async () => [...(await names.get(list, signal))].toSorted() };
}

test('NameList lists once for everybody who asks at that time, or within two seconds', async () => {
  const { clock, asked, get } = aList();
  const both = Promise.all([get(), get()]);
  asked[0]?.(['one']);
  expect(await both).toEqual([['one'], ['one']]);
  clock.advance(1_999);
  expect(await get()).toEqual(['one']);
  expect(asked).toHaveLength(1);
  clock.advance(1);
  const later = get();
  asked[1]?.(['two']);
  expect(await later).toEqual(['two']);
});

test('NameList counts its age from when it was requested', async () => {
  const { clock, asked, get } = aList();
  const slow = get();
  clock.advance(3_000);
  asked[0]?.([]);
  expect(await slow).toEqual([]);
  void get();
  expect(asked).toHaveLength(2);
});

test('NameList includes our own changes at once', async () => {
  const { names, asked, get } = aList();
  const first = get();
  asked[0]?.(['one', 'two']);
  await first;
  names.changed('three', true);
  names.changed('one', false);
  expect(await get()).toEqual(['three', 'two']);
});

test('NameList includes our own changes that a list under way may not show, and takes later lists as they come', async () => {
  const { clock, names, asked, get } = aList();
  const first = get();
  names.changed('new', true);
  names.changed('old', false);
  asked[0]?.(['old']);
  expect(await first).toEqual(['new']);
  clock.advance(5_000);
  const second = get();
  asked[1]?.(['old']);
  expect(await second).toEqual(['old']);
});

test('NameList asks again after a failure', async () => {
  const clock = manualClock();
  const names = new NameList(clock);
  await expect(names.get(() => Promise.reject(new Error('refused')), signal)).rejects.toThrow('refused');
  expect([...(await names.get(async () => ['one'], signal))]).toEqual(['one']);
});
