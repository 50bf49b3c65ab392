import { expect, test } from 'vitest';
import { manualClock, noChance } from '../../test/support/clock.ts';
import { type CallOutcome, CircuitBreaker } from './circuit-breaker.ts';

function aBreaker(random = noChance) {
  const clock = manualClock();
  const breaker = new CircuitBreaker({ clock, random, failures: 3 });
  const call = (outcome: CallOutcome, failure = 'HTTP 500', operation = 'list') => {
    const admission = breaker.admit(operation);
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

test('CircuitBreaker starts counting again after a success', () => {
  const { breaker, call } = aBreaker();
  for (const outcome of ['failure', 'failure', 'success', 'failure', 'failure'] as const) call(outcome);
  expect(breaker.open).toBe(false);
});

test('CircuitBreaker ignores neutral outcomes', () => {
  const { breaker, call } = aBreaker();
  for (const outcome of ['failure', 'neutral', 'failure', 'neutral', 'failure'] as const) call(outcome);
  expect(breaker.open).toBe(true);
});

test('CircuitBreaker says since when and why it refuses', () => {
  const { breaker, call, clock } = aBreaker();
  call('failure', 'first');
  const since = clock.now();
  clock.advance(1_000);
  call('failure', 'second');
  call('failure', 'third');
  clock.advance(10_000);
  expect(breaker.admit('list')).toMatchObject({
    admitted: false,
    sinceMs: since,
    lastFailure: 'third',
    retryAfterMs: 20_000,
  });
});

test('CircuitBreaker allows one probe after its pause, and closes when it succeeds', () => {
  const { breaker, call, clock } = aBreaker();
  for (let count = 0; count < 3; count++) call('failure');
  clock.advance(30_000);
  expect(breaker.peek('list')).toBeUndefined();
  const probe = breaker.admit('list');
  expect(breaker.admit('list').admitted).toBe(false);
  if (probe.admitted) probe.done('success');
  expect(breaker.open).toBe(false);
  expect(call('success')).toBe(true);
});

test('CircuitBreaker asks callers to come back soon while a probe is under way, and spread over time otherwise', () => {
  const { breaker, call, clock } = aBreaker({ ...noChance, float: () => 0.5 });
  for (let count = 0; count < 3; count++) call('failure');
  expect(breaker.peek('list')?.retryAfterMs).toBe(30_750 + 2_500);
  clock.advance(30_750);
  const probe = breaker.admit('list');
  expect(breaker.peek('list')?.retryAfterMs).toBe(1_500);
  if (probe.admitted) probe.done('failure');
  expect(breaker.peek('list')?.retryAfterMs).toBe(30_750 + 2_500);
});

test('CircuitBreaker stays open for another pause after a failed, hanging or abandoned probe', () => {
  const { call, breaker, clock } = aBreaker();
  for (let count = 0; count < 3; count++) call('failure');
  for (const outcome of ['failure', 'neutral', undefined] as const) {
    clock.advance(29_999);
    expect(breaker.admit('list').admitted).toBe(false);
    clock.advance(1);
    const probe = breaker.admit('list');
    expect(probe.admitted).toBe(true);
    if (probe.admitted && outcome !== undefined) probe.done(outcome, 'still');
  }
});

test('CircuitBreaker makes the pause before a probe up to a twentieth longer by chance', () => {
  const { breaker, call, clock } = aBreaker({ ...noChance, float: () => 0.999 });
  for (let count = 0; count < 3; count++) call('failure');
  clock.advance(31_400);
  expect(breaker.admit('list').admitted).toBe(false);
  clock.advance(100);
  expect(breaker.admit('list').admitted).toBe(true);
});

test('CircuitBreaker makes at most one call in 30 s during an hour of outage', () => {
  const { call, clock } = aBreaker();
  let calls = 0;
  for (let second = 0; second < 3600; second++) {
    if (call('failure')) calls++;
    clock.advance(1_000);
  }
  expect(calls).toBeLessThanOrEqual(3 + 120);
  expect(calls).toBeGreaterThan(100);
});

test('CircuitBreaker holds back answered failures, and tries each other operation once, or more if that works', () => {
  const { breaker, call } = aBreaker();
  for (const operation of ['list', 'get', 'list']) call('failure', 'HTTP 500', operation);
  const first = breaker.admit('signIn');
  expect([first.admitted && first.probe, breaker.peek('signIn')?.retryAfterMs]).toEqual([true, 1_000]);
  if (first.admitted) first.done('neutral');
  expect(breaker.peek('signIn')).toBeUndefined();
  const works = [call('success', '', 'signIn'), call('success', '', 'signIn')];
  const fails = [call('failure', 'HTTP 500', 'put'), call('failure', 'HTTP 500', 'put')];
  expect([works, fails]).toEqual([
    [true, true],
    [true, false],
  ]);
  expect([call('success'), call('success', '', 'get'), breaker.open]).toEqual([false, false, true]);
  expect(breaker.admit('signIn')).toMatchObject({ admitted: true, probe: false });
});

test('CircuitBreaker closes with the first success if nothing worked', () => {
  const { breaker, call, clock } = aBreaker();
  for (const operation of ['list', 'get', 'list', 'put']) call('failure', 'HTTP 500', operation);
  clock.advance(35_000);
  expect([call('success', '', 'get'), breaker.open, call('success')]).toEqual([true, false, true]);
});

test('CircuitBreaker releases an operation that works again while others do, and closes when none is left', () => {
  const { breaker, call, clock } = aBreaker();
  for (const operation of ['list', 'get', 'list']) call('failure', 'HTTP 500', operation);
  call('success', '', 'signIn');
  clock.advance(35_000);
  expect([call('success', '', 'get'), call('success', '', 'get'), breaker.open]).toEqual([true, true, true]);
  // At once: if one of them works again, the next may, too.
  expect([call('success'), breaker.open]).toEqual([true, false]);
});

test('CircuitBreaker gives operations probes in turn, as long as each is requested', () => {
  const { call, clock } = aBreaker();
  for (const operation of ['list', 'signIn', 'list']) call('failure', 'HTTP 500', operation);
  const probed: string[] = [];
  for (let second = 0; second < 200; second++) {
    for (const operation of ['list', 'list', 'signIn'])
      if (call('failure', 'HTTP 500', operation)) probed.push(operation);
    clock.advance(1_000);
  }
  expect(probed).toEqual(['list', 'signIn', 'list', 'signIn', 'list', 'signIn']);
});

test('CircuitBreaker gives a rare operation its turn, whatever others fail at', () => {
  const { call, clock } = aBreaker();
  const busy = ['a', 'b'];
  for (const operation of [...busy, 'c']) call('failure', 'HTTP 500', operation);
  let seconds = 0;
  // Each failing operation asks as soon as it may; the one that works again comes two seconds later.
  for (let isLate = 0; seconds < 600; seconds++) {
    for (const operation of busy) if (call('failure', 'HTTP 500', operation)) isLate = 2;
    if (isLate-- <= 0 && call('success', '', 'c')) break;
    clock.advance(1_000);
  }
  expect(seconds).toBeLessThan(120);
});

test('CircuitBreaker gives probes to other operations before one that is never answered', () => {
  const { breaker, call, clock } = aBreaker();
  for (let count = 0; count < 3; count++) call('unanswered', 'timeout', 'hangs');
  clock.advance(30_000);
  expect([call('unanswered', 'timeout', 'hangs'), call('success', '', 'works'), breaker.open]).toEqual([
    false,
    true,
    false,
  ]);
});

test('CircuitBreaker forgets operations that nobody requests any more', () => {
  const { breaker, call, clock } = aBreaker();
  for (const operation of ['list', 'destroy', 'list']) call('failure', 'HTTP 500', operation);
  call('success', '', 'get');
  clock.advance(90_001);
  call('success', '', 'get');
  expect(breaker.open).toBe(false);
});

test('CircuitBreaker treats a working operation as failing only after failures in a row', () => {
  const { call } = aBreaker();
  for (let count = 0; count < 3; count++) call('failure');
  call('success', '', 'signIn');
  const outcomes = ['failure', 'unanswered', 'success', 'failure', 'failure', 'failure', 'success'] as const;
  expect(outcomes.map((outcome) => call(outcome, 'HTTP 500', 'signIn'))).toEqual([
    ...outcomes.slice(1).map(() => true),
    false,
  ]);
});

test('CircuitBreaker holds back all operations if nothing is answered, and learns again what fails once something is', () => {
  const { breaker, call, clock } = aBreaker();
  for (const operation of ['list', 'signIn', 'list']) call('unanswered', 'reset', operation);
  expect([call('success', '', 'put'), call('success', '', 'signIn')]).toEqual([false, false]);
  clock.advance(30_000);
  expect([call('failure', 'HTTP 503'), call('success', '', 'signIn'), call('success')]).toEqual([true, true, false]);
  for (let count = 0; count < 3; count++) expect(call('unanswered', 'reset', 'signIn')).toBe(true);
  expect([call('success', '', 'put'), breaker.open]).toEqual([false, true]);
});

test('CircuitBreaker that has closed no longer knows what failed', () => {
  const { breaker, call, clock } = aBreaker();
  for (let count = 0; count < 3; count++) call('unanswered', 'reset');
  clock.advance(30_000);
  call('success');
  for (let count = 0; count < 3; count++) call('failure');
  expect([breaker.open, call('success', '', 'signIn')]).toEqual([true, true]);
});

test('CircuitBreaker by default treats five failures in a row as an outage, and probes every half minute', () => {
  const clock = manualClock();
  const breaker = new CircuitBreaker({ clock, random: noChance });
  const opened = Array.from({ length: 5 }, () => {
    const admission = breaker.admit('list');
    if (admission.admitted) admission.done('failure');
    return breaker.open;
  });
  expect(opened).toEqual([false, false, false, false, true]);
  clock.advance(29_999);
  expect(breaker.peek('list')).toBeDefined();
  clock.advance(1);
  expect(breaker.admit('list')).toMatchObject({ admitted: true, probe: true });
});

test('CircuitBreaker remembers a failing operation that nobody requests for a minute after its probe', () => {
  const { breaker, call, clock } = aBreaker();
  for (const operation of ['list', 'destroy', 'list']) call('failure', 'HTTP 500', operation);
  clock.advance(90_000);
  call('success', '', 'get');
  expect(breaker.open).toBe(true);
});

test('CircuitBreaker that has closed no longer knows which operations failed', () => {
  const { breaker, call, clock } = aBreaker();
  for (const operation of ['get', 'list', 'list']) call('failure', 'HTTP 500', operation);
  clock.advance(35_000);
  call('success', '', 'get');
  for (let count = 0; count < 3; count++) call('failure');
  expect([breaker.open, call('success', '', 'get'), call('success', '', 'get')]).toEqual([true, true, true]);
});

test('CircuitBreaker does not count a first call under way as one that worked', () => {
  const { breaker, call, clock } = aBreaker();
  for (const operation of ['get', 'list', 'list']) call('failure', 'HTTP 500', operation);
  breaker.admit('signIn');
  clock.advance(35_000);
  call('success', '', 'get');
  expect(breaker.open).toBe(false);
});

test('CircuitBreaker counts unanswered calls in a row: an answered one in between ends the row', () => {
  const { call } = aBreaker();
  for (let count = 0; count < 3; count++) call('failure');
  call('success', '', 'signIn');
  for (const outcome of ['unanswered', 'unanswered', 'success', 'unanswered'] as const)
    call(outcome, 'reset', 'signIn');
  expect(call('success', '', 'put')).toBe(true);
});

test('CircuitBreaker closes with the first success after nothing was answered, whatever worked before', () => {
  const { breaker, call, clock } = aBreaker();
  for (let count = 0; count < 3; count++) call('failure');
  for (const operation of ['signIn', 'get']) call('success', '', operation);
  for (let count = 0; count < 3; count++) call('unanswered', 'reset', 'signIn');
  clock.advance(35_000);
  expect([call('success', '', 'put'), breaker.open]).toEqual([true, false]);
});

test('CircuitBreaker tries again what worked before nothing was answered', () => {
  const { breaker, call, clock } = aBreaker();
  for (let count = 0; count < 3; count++) call('failure');
  for (const operation of ['signIn', 'get']) call('success', '', operation);
  for (let count = 0; count < 3; count++) call('unanswered', 'reset', 'signIn');
  clock.advance(35_000);
  call('failure', 'HTTP 503', 'list');
  expect(breaker.admit('get')).toMatchObject({ admitted: true, probe: true });
});

/** A breaker that holds back `list`, and a call of `signIn` that began before. */
function anOutageDuringACall() {
  const given = aBreaker();
  const early = given.breaker.admit('signIn');
  const end = (outcome: CallOutcome) => early.admitted && early.done(outcome, 'HTTP 500');
  for (let count = 0; count < 3; count++) given.call('failure');
  return { ...given, end };
}

test('CircuitBreaker learns nothing of an operation from the failure of a call that began before the outage', () => {
  const { breaker, end } = anOutageDuringACall();
  end('failure');
  expect(breaker.admit('signIn')).toMatchObject({ admitted: true, probe: true });
});

test('CircuitBreaker allows no second first call when a call from before the outage is over', () => {
  const { breaker, end } = anOutageDuringACall();
  expect(breaker.admit('signIn').admitted).toBe(true);
  end('neutral');
  expect(breaker.admit('signIn').admitted).toBe(false);
});

test('CircuitBreaker knows that an operation works from a call that began before the outage, whatever the first one says', () => {
  const { breaker, end } = anOutageDuringACall();
  const first = breaker.admit('signIn');
  end('success');
  if (first.admitted) first.done('neutral');
  expect(breaker.admit('signIn')).toMatchObject({ admitted: true, probe: false });
});

test('CircuitBreaker counts a probe that fails after a later one succeeded as one failure', () => {
  const { breaker, call, clock } = aBreaker();
  for (const operation of ['list', 'get', 'list']) call('failure', 'HTTP 500', operation);
  call('success', '', 'signIn');
  clock.advance(30_000);
  const hangs = breaker.admit('list');
  clock.advance(35_000);
  call('success');
  if (hangs.admitted) hangs.done('failure', 'HTTP 500');
  expect(breaker.admit('list')).toMatchObject({ admitted: true, probe: false });
});

test('CircuitBreaker gives unanswered operations probes in turn, too', () => {
  const { call, clock } = aBreaker();
  const operations = ['a', 'b', 'c'];
  for (const operation of operations) call('unanswered', 'reset', operation);
  const probed: string[] = [];
  for (let turn = 0; turn < 6; turn++) {
    clock.advance(30_000);
    // The one that was probed last asks first.
    for (const operation of operations.toReversed()) if (call('unanswered', 'reset', operation)) probed.push(operation);
  }
  expect(probed.join('')).toBe('abcabc');
});

test('CircuitBreaker holds back all operations only if none of the last failures was an answer', () => {
  const { call } = aBreaker();
  for (let count = 0; count < 3; count++) call('failure');
  for (const operation of ['signIn', 'get']) call('success', '', operation);
  call('unanswered', 'reset', 'signIn');
  call('failure', 'HTTP 500', 'get');
  for (const operation of ['signIn', 'get']) call('unanswered', 'reset', operation);
  expect(call('success', '', 'put')).toBe(true);
});

test('CircuitBreaker closes with the first success if what worked in the outage has failed since', () => {
  const { breaker, call, clock } = aBreaker();
  for (let count = 0; count < 3; count++) call('failure');
  for (const outcome of ['success', 'failure', 'failure', 'failure'] as const) call(outcome, 'HTTP 500', 'signIn');
  clock.advance(35_000);
  expect([call('success'), breaker.open]).toEqual([true, false]);
});
