import { homedir } from 'node:os';
import { expect, test } from 'vitest';
import { cacheFolder } from './cache.ts';

test('cacheFolder() is MOORING_CACHE, otherwise below XDG_CACHE_HOME, otherwise below the home', () => {
  expect(cacheFolder({ MOORING_CACHE: '/c', XDG_CACHE_HOME: '/x' })).toBe('/c');
  expect(cacheFolder({ MOORING_CACHE: '', XDG_CACHE_HOME: '/x' })).toBe('/x/mooring');
  expect(cacheFolder({})).toBe(`${homedir()}/.cache/mooring`);
});
