import { describe, expect, it } from 'vitest';
import { parseOptions } from '../../bench/options.ts';

describe('parseOptions()', () => {
  it('lets the cloud be fast, and unlimited, unless it is told otherwise', () => {
    const usual = { provisionTime: '3s-12s', latency: '0ms', requestsPerSecond: undefined };
    expect(parseOptions([])).toMatchObject(usual);
    expect(parseOptions(['--provision', '30s-120s', '--latency', '50ms', '--rps', '50'])).toMatchObject({
      provisionTime: '30s-120s',
      latency: '50ms',
      requestsPerSecond: 50,
    });
  });

  it('fails in all ways, unless it is told which', () => {
    expect(parseOptions([]).outages).toEqual(['connections break', 'answers 503', 'never answers']);
    expect(parseOptions(['--outages', 'answers 503,never answers']).outages).toEqual(['answers 503', 'never answers']);
  });

  it.each([
    ['--provision', 'soon'],
    ['--provision', '120s-30s'],
    ['--latency', '50 ms'],
    ['--rps', '0'],
    ['--only', 'S99'],
    ['--outages', 'floods'],
  ])('refuses %s %s, and says which', (option, value) => {
    expect(() => parseOptions([option, value])).toThrow(option);
  });
});
