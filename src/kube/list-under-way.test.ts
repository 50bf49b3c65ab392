import { describe, expect, it } from 'vitest';
import type { AnyObject } from './api.ts';
import { ListUnderWay } from './list-under-way.ts';

const object = (name: string, version: number): AnyObject => ({
  metadata: { namespace: 'ns', name, uid: name, resourceVersion: String(version) },
});

/** What a list of version 100 brings back, where newer versions of these objects are here. */
function broughtBack(listing: ListUnderWay<AnyObject>, here: Readonly<Record<string, number>>): readonly string[] {
  for (const name of Object.keys(here)) listing.told(object(name, 1), false);
  const at = (key: string) => {
    const name = key.slice('ns/'.length);
    return here[name] === undefined ? undefined : object(name, here[name]);
  };
  return [...listing.replacing(at, '100')].map(({ metadata }) => metadata.name);
}

describe('ListUnderWay', () => {
  it('brings back what it reports instead of versions that it should have', () => {
    expect(broughtBack(new ListUnderWay(false, undefined), { older: 99, same: 100, newer: 101 })).toEqual([
      'older',
      'same',
    ]);
  });

  it('brings nothing back that it reports again, as new as it is here, nor what is not here any more', () => {
    const listing = new ListUnderWay<AnyObject>(false, undefined);
    listing.told(object('caught-up', 5), false);
    listing.told(object('caught-up', 9), true);
    listing.told(object('ended', 5), false);
    expect(broughtBack(listing, {})).toEqual([]);
    expect([...listing.replacing((key) => (key === 'ns/ended' ? undefined : object('caught-up', 9)), '100')]).toEqual(
      [],
    );
  });

  it('of what is true now brings everything back, except what was written since it began', () => {
    const listing = new ListUnderWay<AnyObject>(true, undefined);
    listing.wrote('ns/own');
    expect(broughtBack(listing, { own: 999, other: 999 })).toEqual(['other']);
  });

  it.each([
    ['counts as one of what is true now, with what was written since', true, ['other']],
    ['is like any other', false, []],
  ])('after a failed one, for what is true now: %s', (_what, isNewest, expected) => {
    const failed = new ListUnderWay<AnyObject>(isNewest, undefined);
    failed.wrote('ns/own');
    expect(broughtBack(new ListUnderWay(false, failed), { own: 999, other: 999 })).toEqual(expected);
  });
});
