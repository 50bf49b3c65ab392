import { describe, expect, it } from 'vitest';
import { isSamePlace, placeInFull, placeOf } from './place.ts';

const HERE = { baseURL: 'https://cloud.example.com', teamID: 'acme', spaceID: 'production' };

describe('placeOf()', () => {
  it.each(['https://cloud.example.com/', 'https://CLOUD.example.com', 'https://cloud.example.com:443//'])(
    'treats %s as the same cloud',
    (baseURL) => {
      expect(placeOf({ ...HERE, baseURL })).toEqual(HERE);
    },
  );

  it('keeps what is not a URL as it is', () => {
    expect(placeOf({ ...HERE, baseURL: 'nowhere' }).baseURL).toBe('nowhere');
  });
});

describe('isSamePlace()', () => {
  it.each([
    { baseURL: 'https://cloud.example.com/eu' },
    { baseURL: 'http://cloud.example.com' },
    { teamID: 'other' },
    { spaceID: 'staging' },
  ])('tells %o apart', (change) => {
    expect(isSamePlace(HERE, { ...HERE, ...change })).toBe(false);
  });
});

it('placeInFull() names the cloud too', () => {
  expect(placeInFull(HERE)).toBe('space "production" of team "acme" at https://cloud.example.com');
});
