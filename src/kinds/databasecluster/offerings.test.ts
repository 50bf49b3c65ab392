import { expect, test } from 'vitest';
import { defaultStorageType, machineTypes } from './offerings.ts';

test('every provider of a machine type has a default storage type', () => {
  for (const { provider } of machineTypes) expect(defaultStorageType(provider)).toBeTypeOf('string');
});

test('defaultStorageType() knows nothing of a provider that is not listed', () => {
  expect(defaultStorageType('azure')).toBeUndefined();
});

test('every region has a free machine type', () => {
  const freeIn = new Set(machineTypes.flatMap((type) => (type.free ? type.regions : [])));
  expect(machineTypes.flatMap((type) => type.regions).filter((region) => !freeIn.has(region))).toEqual([]);
});
