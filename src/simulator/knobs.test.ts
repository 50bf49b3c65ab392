import { describe, expect, it } from 'vitest';
import { DEFAULT_KNOBS, KNOB_SPECS, type Knobs, parseKnobFlags, parseKnobs, SIMULATE_KNOBS } from './knobs.ts';

describe('parseKnobs', () => {
  it.each([
    [{ provisionMs: 5 }, { provisionMs: [5, 5] }],
    [{ provisionMs: '3s' }, { provisionMs: [3000, 3000] }],
    [{ provisionMs: '1s-5s' }, { provisionMs: [1000, 5000] }],
    [{ latencyMs: [10, 20] }, { latencyMs: [10, 20] }],
    [{ latencyMs: '10ms-20ms' }, { latencyMs: [10, 20] }],
    [{ accessTokenMs: '1h30m' }, { accessTokenMs: 5_400_000 }],
    [{ passwordCheckMs: 0 }, { passwordCheckMs: 0 }],
    [{ levelsNest: 'false' }, { levelsNest: false }],
    [{ echoSecrets: true }, { echoSecrets: true }],
    [{ ownership: 'both' }, { ownership: 'both' }],
    [{ ruleViolationStatus: '403' }, { ruleViolationStatus: 403 }],
    [{}, {}],
  ])('reads %j', (given, expected) => {
    expect(parseKnobs(given)).toEqual(expected);
  });

  it.each([
    [{ provisionMs: '5s-1s' }, 'provisionMs takes a duration such as 3s, or a range'],
    [{ provisionMs: -1 }, 'provisionMs takes'],
    [{ provisionMs: '1s-2s-3s' }, 'provisionMs takes'],
    [{ provisionMs: '3' }, 'provisionMs takes a duration such as 3s, or a range such as 1s-5s, not "3"'],
    [{ accessTokenMs: 'soon' }, 'accessTokenMs takes a duration'],
    [{ levelsNest: 'yes' }, 'levelsNest takes true or false'],
    [{ ownership: 'mine' }, 'ownership takes one of dialect, team'],
    [{ gravity: 1 }, 'Unknown knob gravity'],
    [{ toString: 1 }, 'Unknown knob toString'],
    [[], 'must be an object'],
  ])('refuses %j', (given, message) => {
    expect(() => parseKnobs(given)).toThrow(message);
  });

  it('reads back what the knobs are', () => {
    for (const knobs of [DEFAULT_KNOBS, SIMULATE_KNOBS]) {
      expect(parseKnobs(JSON.parse(JSON.stringify(knobs)))).toEqual(knobs);
    }
  });
});

describe('parseKnobFlags', () => {
  it('knows every knob by its flag, and names the flag when it is wrong', () => {
    expect(parseKnobFlags({ 'provision-time': '1s', latency: '5ms', port: '1' })).toEqual({
      provisionMs: [1000, 1000],
      latencyMs: [5, 5],
    });
    expect(() => parseKnobFlags({ 'levels-nest': 'x' })).toThrow('--levels-nest takes true or false');
  });

  it('has a flag of its own for every knob, with what it is for', () => {
    const specs = Object.values(KNOB_SPECS);
    expect(new Set(specs.map(({ flag }) => flag)).size).toBe(specs.length);
    for (const name of Object.keys(DEFAULT_KNOBS)) expect(KNOB_SPECS[name as keyof Knobs].about).not.toBe('');
  });
});
