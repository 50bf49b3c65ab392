import { expect, test } from 'vitest';
import { space } from '../../../test/support/manifests.ts';
import type { KubeObject } from '../../kube/object.ts';
import { SpacePlaces } from './places.ts';

const CLOUD = 'https://cloud.example.com';
// The cast is the parse border: what is in a spec is what is tested.
const named = (spec: Readonly<Record<string, unknown>>, baseURL = CLOUD) =>
  space({ baseURL }, spec) as unknown as KubeObject;
const isWhere = (places: SpacePlaces, key: string) => [places.get(key)?.spaceID, [...places.same(key)]];

test('SpacePlaces knows all DatabaseSpaces that name one place, whatever their tokens', () => {
  const places = new SpacePlaces();
  places.changed('a/one', named({}));
  places.changed('b/two', named({ apiTokens: [] }, `${CLOUD}/`));
  places.changed('c/three', named({ spaceID: 'staging' }));
  expect(isWhere(places, 'a/one')).toEqual(['production', ['a/one', 'b/two']]);
  expect(isWhere(places, 'c/three')).toEqual(['staging', ['c/three']]);
  expect(isWhere(places, 'd/four')).toEqual([undefined, []]);
});

test('SpacePlaces still knows of a place what a DatabaseSpace that is gone named', () => {
  const places = new SpacePlaces();
  for (const key of ['a/one', 'b/two']) places.changed(key, named({}));
  const place = places.get('a/one');
  for (const key of ['a/one', 'b/two']) places.changed(key, undefined);
  if (place !== undefined) places.recorded('c/three', place, 1);
  expect([[...places.same('a/one')], [...places.same('a/one', place)]]).toEqual([[], ['a/one', 'c/three']]);
});

test('SpacePlaces follows the specs, and keeps what stays as it is', () => {
  const places = new SpacePlaces();
  for (const key of ['a/one', 'b/two']) places.changed(key, named({}));
  const before = places.get('b/two');
  expect(places.changed('b/two', named({ pollInterval: '60s' }))).toEqual([]);
  expect(places.get('b/two')).toBe(before);
  expect(places.changed('b/two', named({ spaceID: 'staging' }))).toEqual(['a/one']);
  expect([isWhere(places, 'a/one'), isWhere(places, 'b/two')]).toEqual([
    ['production', ['a/one']],
    ['staging', ['b/two']],
  ]);
  expect(places.changed('a/one', undefined)).toEqual([]);
  expect(places.changed('b/two', named({ spaceID: undefined }))).toEqual([]);
  expect([isWhere(places, 'a/one'), isWhere(places, 'b/two')]).toEqual([
    [undefined, []],
    [undefined, []],
  ]);
});

test('SpacePlaces counts a DatabaseSpace to a place as long as clusters are recorded there, whatever it names, and if it is gone', () => {
  const places = new SpacePlaces();
  places.changed('a/one', named({}));
  places.changed('b/two', named({ spaceID: 'staging' }));
  const place = places.get('a/one') ?? expect.unreachable();
  for (const key of ['a/one', 'b/two', 'b/two', 'c/gone']) places.recorded(key, { ...place }, 1);
  const atOne = () => [...places.same('a/one')];
  expect(atOne()).toEqual(['a/one', 'b/two', 'c/gone']);
  expect([...places.same('b/two')]).toEqual(['b/two']);
  places.recorded('b/two', place, -1);
  places.recorded('c/gone', place, -1);
  expect(atOne()).toEqual(['a/one', 'b/two']);
  places.recorded('b/two', place, -1);
  expect(atOne()).toEqual(['a/one']);
});
