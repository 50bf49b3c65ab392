import { expect, test } from 'vitest';
import { manualClock, noChance } from '../../test/support/clock.ts';
import { type CallOutcome, CircuitBreaker } from './circuit-breaker.ts';

function aBreaker(random = noChance) {
  const clock = manualClock();
  const breaker = new CircuitBreaker({ clock, random, failures: 3, probeEveryMs: 30_000 });
  const call = (outcome: CallOutcome, failure = 'HTTP 500') => {
    const admission = breaker.admit();
    if (admission.admitted) admission.done(outcome, failure);
    return admission.admitted;
  };
  return { breaker, call, clock };
}

test('CircuitBreaker opens after failures in a row', () => {
  const { breaker, call } = aBreaker();
  expect([call('failure'), call('failure'), breaker.open, call('failure'), breaker.open, call('success')]).toEqual([
    true,
    true,
    false,
    true,
    true,
    false,
  ]);
});

test('CircuitBreaker starts counting anew after a success', () => {
  const { breaker, call } = aBreaker();
  for (const outcome of ['failure', 'failure', 'success', 'failure', 'failure'] as const) call(outcome);
  expect(breaker.open).toBe(false);
});

test('CircuitBreaker takes no notice of neutral outcomes', () => {
  const { breaker, call } = aBreaker();
  for (const outcome of ['failure', 'neutral', 'failure', 'neutral', 'failure'] as const) call(outcome);
  expect(breaker.open).toBe(true);
});

test('CircuitBreaker tells since when and why it refuses', () => {
  const { breaker, call, clock } = aBreaker();
  call('failure', 'first');
  const since = clock.now();
  clock.advance(1_000);
  call('failure', 'second');
  call('failure', 'third');
  clock.advance(10_000);
  expect(breaker.admit()).toMatchObject({
    admitted: false,
    sinceMs: since,
    lastFailure: 'third',
    retryAfterMs: 20_000,
  });
});

test('CircuitBreaker lets one probe through in its time, and closes when it succeeds', () => {
  const { breaker, call, clock } = aBreaker();
  for (let count = 0; count < 3; count++) call('failure');
  clock.advance(30_000);
  expect(breaker.peek()).toBeUndefined();
  const probe = breaker.admit();
  expect(breaker.admit().admitted).toBe(false);
  if (probe.admitted) probe.done('success');
  expect(breaker.open).toBe(false);
  expect(call('success')).toBe(true);
});

test('CircuitBreaker asks callers to come back soon while a probe is under way, and spread over time otherwise', () => {
  const { breaker, call, clock } = aBreaker({ ...noChance, float: () => 0.5 });
  for (let count = 0; count < 3; count++) call('failure');
  expect(breaker.peek()?.retryAfterMs).toBe(33_000 + 2_500);
  clock.advance(33_000);
  const probe = breaker.admit();
  expect(breaker.peek()?.retryAfterMs).toBe(1_500);
  if (probe.admitted) probe.done('failure');
  expect(breaker.peek()?.retryAfterMs).toBe(33_000 + 2_500);
});

test('CircuitBreaker stays open after a failed, hanging or abandoned probe for another such time', () => {
  const { call, breaker, clock } = aBreaker();
  for (let count = 0; count < 3; count++) call('failure');
  for (const outcome of ['failure', 'neutral', undefined] as const) {
    clock.advance(29_999);
    expect(breaker.admit().admitted).toBe(false);
    clock.advance(1);
    const probe = breaker.admit();
    expect(probe.admitted).toBe(true);
    if (probe.admitted && outcome !== undefined) probe.done(outcome, 'still');
  }
});

test('CircuitBreaker draws the time of a probe up to a fifth longer', () => {
  const { breaker, call, clock } = aBreaker({ ...noChance, float: () => 0.999 });
  for (let count = 0; count < 3; count++) call('failure');
  clock.advance(35_900);
  expect(breaker.admit().admitted).toBe(false);
  clock.advance(100);
  expect(breaker.admit().admitted).toBe(true);
});

test('CircuitBreaker makes at most one call in 30 s of an hour of outage', () => {
  const { call, clock } = aBreaker();
  let calls = 0;
  for (let second = 0; second < 3600; second++) {
    if (call('failure')) calls++;
    clock.advance(1_000);
  }
  expect(calls).toBeLessThanOrEqual(3 + 120);
  expect(calls).toBeGreaterThan(100);
});
