import { describe, expect, it } from 'vitest';
import { ApiError, type ApiErrorKind } from '../http/api-error.ts';
import { PasswordTries } from './password-tries.ts';
import type { Login } from './secrets.ts';

const KEY = 'shop/app';
const SUBJECT = { key: KEY, lookNow: false };
const MINUTE_MS = 60_000;
const WHERE = { identity: 'first', endpoint: 'https://server' };
const OTHER = { ...WHERE, identity: 'second' };
const BESIDE = { ...WHERE, endpoint: 'https://beside' };
const one = { username: 'app', password: 'one' };
const other = { username: 'app', password: 'other' };

const failure = (kind: ApiErrorKind, status?: number) =>
  new ApiError({
    api: 'server',
    operation: 'updateUser',
    phrase: 'update',
    kind,
    what: 'no',
    status,
    idempotent: true,
  });
const isAwaited = (tries: PasswordTries, login: Login, nowMs: number, where = WHERE) =>
  tries.isAwaited(KEY, { ...login, ...where }, nowMs);
const give = (tries: PasswordTries, nowMs: number, error?: Error, where = WHERE) =>
  tries.give(
    KEY,
    { ...one, ...where },
    () => nowMs,
    () => (error === undefined ? Promise.resolve() : Promise.reject(error)),
  );

describe('a refusal', () => {
  it('holds for a minute, while nothing that it was about has changed', () => {
    const tries = new PasswordTries();
    tries.refused(KEY, 'about', failure('invalid', 400), 0);
    const failed = expect.objectContaining({ lasting: 'terminal', reason: 'RefusedByServer' });
    expect(tries.refusal(SUBJECT, 'about', MINUTE_MS - 1)).toEqual({ failure: failed, forMs: 1 });
    expect(tries.refusal(SUBJECT, 'about', MINUTE_MS)).toBeUndefined();
    expect(tries.refusal(SUBJECT, 'something else', 0)).toBeUndefined();
    expect(tries.refusal({ ...SUBJECT, key: 'shop/other' }, 'about', 0)).toBeUndefined();
    expect(tries.refusal({ ...SUBJECT, lookNow: true }, 'about', 0)).toBeUndefined();
    tries.forget(KEY);
    expect(tries.refusal(SUBJECT, 'about', 0)).toBeUndefined();
  });

  it('holds for twice as long each time, up to half an hour, unless it is about something else, or the last was long ago', () => {
    const tries = new PasswordTries();
    let nowMs = 0;
    const standsFor = (about: string) => {
      tries.refused(KEY, about, failure('invalid', 400), nowMs);
      const { forMs = 0 } = tries.refusal(SUBJECT, about, nowMs) ?? {};
      nowMs += forMs;
      return forMs / MINUTE_MS;
    };
    expect(Array.from({ length: 7 }, () => standsFor('about'))).toEqual([1, 2, 4, 8, 16, 30, 30]);
    expect([standsFor('something else'), standsFor('something else')]).toEqual([1, 2]);
    nowMs += 30 * MINUTE_MS;
    expect(standsFor('something else')).toBe(1);
  });
});

describe('a password that a server accepted', () => {
  it('is waited for, twice as long each time, until it works', async () => {
    const tries = new PasswordTries();
    await give(tries, 0);
    expect([MINUTE_MS - 1, MINUTE_MS].map((ms) => isAwaited(tries, one, ms))).toEqual([true, false]);
    expect(isAwaited(tries, other, 0)).toBe(false);
    await give(tries, 0);
    expect([2 * MINUTE_MS - 1, 2 * MINUTE_MS].map((ms) => isAwaited(tries, one, ms))).toEqual([true, false]);
    for (let time = 0; time < 20; time++) await give(tries, 0);
    expect(isAwaited(tries, one, 30 * MINUTE_MS)).toBe(false);
    tries.works(KEY, { ...other, ...WHERE });
    tries.works(KEY, { ...one, ...OTHER });
    expect(isAwaited(tries, one, 0)).toBe(true);
    expect(isAwaited(tries, one, 0, OTHER)).toBe(false);
    tries.works(KEY, { ...one, ...WHERE });
    expect(isAwaited(tries, one, 0)).toBe(false);
    await give(tries, 0);
    expect([MINUTE_MS - 1, MINUTE_MS].map((ms) => isAwaited(tries, one, ms))).toEqual([true, false]);
  });

  it('is waited for at every server of the cluster, except where it works', async () => {
    const tries = new PasswordTries();
    await give(tries, 0);
    tries.works(KEY, { ...one, ...WHERE });
    expect([WHERE, BESIDE].map((where) => isAwaited(tries, one, 0, where))).toEqual([false, true]);
    expect(isAwaited(tries, one, MINUTE_MS, BESIDE)).toBe(false);
  });

  it('is known to come from another server only where it was not taken', async () => {
    const tries = new PasswordTries();
    await give(tries, 0);
    const from = (where: typeof WHERE) => tries.isAwaitedElsewhere(KEY, { ...one, ...where }, 0);
    expect([WHERE, BESIDE, OTHER].map(from)).toEqual([false, true, false]);
  });

  it('is waited for as from the first time if another cluster accepts it', async () => {
    const tries = new PasswordTries();
    await give(tries, 0);
    await give(tries, 0, undefined, OTHER);
    expect(isAwaited(tries, one, MINUTE_MS, OTHER)).toBe(false);
  });
});

it('answeredBy() tells the request that a password answers, of the last one that was written down only', () => {
  const tries = new PasswordTries();
  tries.prepared(KEY, other, 'earlier');
  tries.prepared(KEY, one, 'asked');
  expect([tries.answeredBy(KEY, one), tries.answeredBy(KEY, other)]).toEqual(['asked', undefined]);
  tries.forget(KEY);
  expect(tries.answeredBy(KEY, one)).toBeUndefined();
});

describe('a password that was recorded', () => {
  it.each([
    { what: 'while nothing was sent', error: undefined, sends: false, unsent: true },
    { what: 'after the server refused it', error: failure('invalid', 400), sends: true, unsent: true },
    { what: 'after the server could not be reached', error: failure('unreachable'), sends: true, unsent: true },
    { what: 'after the answer was lost', error: failure('lost'), sends: true, unsent: false },
    { what: 'after the server failed', error: failure('unavailable', 500), sends: true, unsent: false },
    { what: 'after a failure that nobody expected', error: new Error('What?'), sends: true, unsent: false },
    { what: 'after the server accepted it', error: undefined, sends: true, unsent: false },
  ])('$what, is unsent: $unsent', async ({ error, sends, unsent }) => {
    const tries = new PasswordTries();
    tries.prepared(KEY, one, undefined);
    if (sends) await give(tries, 0, error).catch(() => {});
    expect([tries.isUnsent(KEY, one), tries.isUnsent(KEY, other)]).toEqual([unsent, false]);
    expect(isAwaited(tries, one, 0)).toBe(sends && error === undefined);
  });
});

describe('a password that a server refused', () => {
  const verdicts = {
    accepted: () => Promise.resolve('accepted' as const),
    refused: () => Promise.resolve('refused' as const),
    unknown: () => Promise.reject(failure('invalid', 400)),
  };

  it.each<[keyof typeof verdicts, string, boolean]>([
    ['accepted', 'working', false],
    ['refused', 'refused', true],
    ['unknown', 'no', false],
  ])('at a sign-in that is then %s, is %s; no server has it: %s', async (verdict, is, unsent) => {
    const tries = new PasswordTries();
    tries.prepared(KEY, one, undefined);
    const refuse = () => Promise.reject(failure('conflict', 409));
    const given = tries.give(KEY, { ...one, ...WHERE }, () => 0, refuse, verdicts[verdict]);
    if (verdict === 'unknown') await expect(given).rejects.toThrow(is);
    else expect(await given).toMatchObject({ is });
    expect(tries.isUnsent(KEY, one)).toBe(unsent);
    expect(isAwaited(tries, one, 0)).toBe(false);
  });
});

describe('a password that another process recorded, or for which an answer was lost', () => {
  it('is unsent once the server has refused it for so long that no earlier call can land', async () => {
    const tries = new PasswordTries();
    const refuse = async (nowMs: number) => {
      await give(tries, nowMs, failure('invalid', 400)).catch(() => {});
      return tries.isUnsent(KEY, one);
    };
    expect([await refuse(0), await refuse(9 * MINUTE_MS), await refuse(10 * MINUTE_MS)]).toEqual([false, false, true]);
    await give(tries, 11 * MINUTE_MS, failure('lost')).catch(() => {});
    expect([await refuse(12 * MINUTE_MS), await refuse(21 * MINUTE_MS)]).toEqual([false, false]);
    expect(await refuse(22 * MINUTE_MS)).toBe(true);
    tries.forget(KEY);
    expect(await refuse(40 * MINUTE_MS)).toBe(false);
  });
});

it('a password that somebody else wrote is left for as long as a call with it may land, each from when it was first seen', () => {
  const tries = new PasswordTries();
  expect(tries.leftMs(KEY, one, 1_000)).toBe(600_000);
  expect(tries.leftMs(KEY, one, 601_000)).toBe(0);
  expect(tries.leftMs(KEY, other, 601_000)).toBe(600_000);
  tries.forget(KEY);
  expect(tries.leftMs(KEY, other, 602_000)).toBe(600_000);
});
