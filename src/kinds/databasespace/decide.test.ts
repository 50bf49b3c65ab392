import { describe, expect, it } from 'vitest';
import { aSpace, aSpaceObservation, conditionOf, NOW_MS, outline } from '../../../test/support/builders.ts';
import { TerminalError, TransientError } from '../../base/errors.ts';
import { ApiError, type ApiErrorKind } from '../../http/api-error.ts';
import type { Condition } from '../../kube/condition.ts';
import { decideSpace as decide } from './decide.ts';
import type { SpaceObservation, SpaceSubject } from './observation.ts';

function apiError(kind: ApiErrorKind, status?: number, retryAfterMs?: number): ApiError {
  return new ApiError({
    api: 'cloud',
    operation: 'list',
    phrase: 'list clusters',
    idempotent: true,
    kind,
    what: 'it said no',
    status,
    retryAfterMs,
  });
}

const decideSpace = (subject: SpaceSubject, observation: SpaceObservation, nowMs = NOW_MS) =>
  decide(subject, observation, nowMs);

const ready = aSpace().withReady('True');

describe('decideSpace()', () => {
  it('is ready when the space is listed and every token was exchanged', () => {
    const decision = decideSpace(aSpace().subject, aSpaceObservation());
    expect(outline(decision)).toEqual({
      ready: 'True Observed',
      summary: 'none',
      steps: [],
      comesBack: 'when something changes',
    });
    expect(conditionOf(decision, 'CredentialsValid')?.status).toBe('True');
    expect(decision.status).toEqual({
      clusters: { total: 2, managed: 1, own: 1 },
      unmanagedClusters: [{ clusterID: 'other', state: 'running' }],
      availableVersions: ['3.5.0'],
      keptSecrets: null,
    });
  });

  it('says that without a token of level admin nothing can be destroyed', () => {
    const decision = decideSpace(aSpace().subject, aSpaceObservation({ canDestroy: false }));
    expect(conditionOf(decision, 'CredentialsValid')?.message).toContain('none of level admin');
  });

  it('waits for the first List', () => {
    const decision = decideSpace(aSpace().subject, aSpaceObservation({ inventory: undefined }));
    expect(outline(decision)).toMatchObject({ ready: 'Unknown Observing', summary: 'Reconciling' });
  });

  it('needs a person when a token is refused, and tries again all the same', () => {
    const decision = decideSpace(
      ready.subject,
      aSpaceObservation({ refused: [{ secretName: 'cloud-write', error: apiError('unauthorized', 401) }] }),
    );
    expect(outline(decision)).toMatchObject({
      ready: 'False CredentialsInvalid',
      summary: 'Stalled',
      comesBack: '60000 ms',
    });
    expect(conditionOf(decision, 'CredentialsValid')?.status).toBe('False');
    expect(conditionOf(decision, 'Ready')?.message).toMatch(/Correct .* in Secret "cloud-write"$/);
    // The other tokens are enough to go on observing.
    expect(decision.status).toMatchObject({ clusters: { total: 2, managed: 1 } });
  });

  it.each([
    ['Unknown SecretNotFound', 'Reconciling', new TransientError('SecretNotFound', 'Secret "a" is not there')],
    ['False SecretKeyMissing', 'Stalled', new TerminalError('SecretKeyMissing', 'Secret "a" has no value')],
  ])('says that the tokens are no longer valid, and why: %s', (said, summary, missing) => {
    const known = { type: 'CredentialsValid', status: 'True', reason: 'TokensExchanged', message: '' } as const;
    const conditions = [...(ready.subject.status.conditions ?? []), { ...known, lastTransitionTime: '' }];
    const given = ready.but({ status: { ...ready.subject.status, conditions } });
    const needs = { neededBy: ['shop/orders'], freeSecrets: ['cloud-admin'] };
    const seen = { ...aSpaceObservation({}, needs), cloud: { why: missing, lacksToken: true } };
    const decision = decideSpace(given.subject, seen);
    expect(outline(decision)).toMatchObject({ ready: said, summary, comesBack: '0 ms' });
    expect(conditionOf(decision, 'CredentialsValid')).toMatchObject({
      status: 'False',
      reason: missing.reason,
      message: missing.message,
    });
    // What exists of them is kept all the same.
    expect(decision.status?.keptSecrets).toEqual(['cloud-admin']);
    // And without it the clusters cannot be deleted.
    const going = decideSpace(given.but({ deleting: true }).subject, seen);
    expect(outline(going)).toMatchObject({ ready: said, steps: [] });
    expect(conditionOf(going, 'Ready')).toMatchObject({
      message: expect.stringMatching(/^Secret "a" .*\. This space, which is being deleted, .*: shop\/orders$/),
    });
  });

  it.each([
    ['later and later', new TransientError('SecretNotFound', 'Secret "a" is not there'), 'later'],
    ['slowly', new TerminalError('SecretKeyMissing', 'Secret "a" has no value'), 'slowly'],
  ])('looks %s for what a person should provide, as the watch reports when it appears', (_how, why, comesBack) => {
    for (const lacksToken of [true, false]) {
      const decision = decideSpace(ready.subject, { ...aSpaceObservation(), cloud: { why, lacksToken } });
      expect(outline(decision)).toMatchObject({ steps: [], comesBack });
      expect(decision.mayPass === true).toBe(comesBack === 'later');
    }
  });

  it('says nothing of the tokens if something else keeps the space from being connected', () => {
    const known = { type: 'CredentialsValid', status: 'True', reason: 'TokensExchanged', message: '' } as const;
    const conditions = [...(ready.subject.status.conditions ?? []), { ...known, lastTransitionTime: '' }];
    const given = ready.but({ status: { ...ready.subject.status, conditions } });
    const needs = { neededBy: ['shop/orders'], freeSecrets: ['cloud-admin'] };
    const why = new TerminalError('BaseURLNotAllowed', 'baseURL "http://a" is not https');
    const decision = decideSpace(given.subject, { ...aSpaceObservation({}, needs), cloud: { why, lacksToken: false } });
    expect(outline(decision)).toMatchObject({ ready: 'False BaseURLNotAllowed', summary: 'Stalled' });
    expect(conditionOf(decision, 'CredentialsValid')).toMatchObject({ status: 'Unknown', reason: 'NotExchanged' });
    // What deleting the clusters needs is kept all the same.
    expect(decision.status?.keptSecrets).toEqual(['cloud-admin']);
  });

  it('says that tokens are not valid which are exchanged, and refused by every List', () => {
    const decision = decideSpace(ready.subject, aSpaceObservation({ listError: apiError('unauthorized', 401) }));
    expect(conditionOf(decision, 'CredentialsValid')).toMatchObject({
      status: 'False',
      reason: 'CredentialsInvalid',
      message: expect.stringMatching(/Check the client ids and client secrets in /),
    });
    const forbidden = decideSpace(ready.subject, aSpaceObservation({ listError: apiError('forbidden', 403) }));
    expect(conditionOf(forbidden, 'CredentialsValid')?.status).toBe('True');
  });

  it.each<[ApiErrorKind, string, string]>([
    ['notFound', 'False SpaceNotFound', 'Stalled'],
    ['forbidden', 'False AccessDenied', 'Stalled'],
    ['unauthorized', 'False CredentialsInvalid', 'Stalled'],
    ['unavailable', 'False CloudUnreachable', 'Reconciling'],
    ['lost', 'False CloudUnreachable', 'Reconciling'],
    ['throttled', 'False CloudThrottled', 'Reconciling'],
    ['badAnswer', 'False CloudAnswerUnusable', 'Reconciling'],
  ])('reports a List that ends with %s', (kind, said, summary) => {
    const decision = decideSpace(ready.subject, aSpaceObservation({ listError: apiError(kind) }));
    expect(outline(decision)).toMatchObject({ ready: said, summary });
    expect(conditionOf(decision, 'Ready')?.message).not.toMatch(/\.$/);
  });

  it('says that a token which may not list may be of too high a level, or for another space', () => {
    const decision = decideSpace(ready.subject, aSpaceObservation({ listError: apiError('forbidden') }));
    expect(conditionOf(decision, 'Ready')?.message).toMatch(
      /Give the space a token of level read for this very space "production" of team "acme": a token for another space /,
    );
  });

  it('says in an outage of more than ten seconds what fails, since when, and when the next try is', () => {
    const seen = aSpaceObservation({ listError: apiError('lost'), failingSinceMs: NOW_MS });
    expect(outline(decideSpace(ready.subject, seen, NOW_MS + 9_000))).toMatchObject({
      ready: 'True Observed',
      comesBack: '1000 ms',
    });
    const message =
      'Cannot list clusters: it said no, since 2026-11-20T12:00:00Z. Next try within a minute. If this persists, check baseURL and caBundle, and network policies and proxies on the way';
    expect(conditionOf(decideSpace(ready.subject, seen, NOW_MS + 10_000), 'Ready')?.message).toBe(message);
  });

  it.each([
    [undefined, 'Next try within a minute'],
    [60_000, 'Next try within a minute'],
    [60_001, 'Next try after that pause'],
  ])('says when the next try is if the cloud asks for a pause of %s ms', (retryAfterMs, next) => {
    const listError = apiError('unavailable', 503, retryAfterMs);
    const seen = aSpaceObservation({ listError, failingSinceMs: NOW_MS });
    const { message = '' } = conditionOf(decideSpace(ready.subject, seen, NOW_MS + 10_000), 'Ready') ?? {};
    expect(message).toContain(`. ${next}. If this persists, check baseURL`);
  });

  it('says what to do when few requests are let through, once that lasts', () => {
    const seen = aSpaceObservation({ listError: apiError('throttled'), failingSinceMs: NOW_MS });
    expect(outline(decideSpace(ready.subject, seen, NOW_MS + 119_000))).toMatchObject({
      ready: 'True Observed',
      comesBack: '1000 ms',
    });
    const message =
      'Cannot list clusters: it said no, since 2026-11-20T12:00:00Z. Mooring tries again by itself. If this persists, raise pollInterval, or ask the cloud for a higher limit';
    expect(conditionOf(decideSpace(ready.subject, seen, NOW_MS + 120_000), 'Ready')?.message).toBe(message);
    const neverListed = aSpaceObservation({ ...seen.cloud, inventory: undefined });
    expect(outline(decideSpace(aSpace().subject, neverListed)).ready).toBe('Unknown CloudThrottled');
  });

  it('says of a List that is refused that the cloud was reached', () => {
    const seen = aSpaceObservation({ listError: apiError('invalid'), inventory: undefined });
    const message = conditionOf(decideSpace(aSpace().subject, seen), 'Ready')?.message;
    expect(message).toMatch(/If this persists, check what it refuses, and baseURL, teamID and spaceID$/);
  });

  it('knows since when an outage lasts that began before this process', () => {
    const before = {
      type: 'Ready',
      status: 'False',
      reason: 'CloudUnreachable',
      message:
        'No answer (HTTP 503), since 2026-11-20T11:00:00Z. Next try within a minute. If this persists, check baseURL and caBundle, and network policies and proxies on the way',
      // Ready was False for another reason before, and stayed False.
      lastTransitionTime: '2026-11-18T08:00:00Z',
    } as const;
    const seen = { listError: apiError('lost'), failingSinceMs: NOW_MS };
    const say = (changes: Parameters<typeof aSpaceObservation>[0], condition: Partial<Condition> = {}) => {
      const status = { ...ready.subject.status, conditions: [{ ...before, ...condition }] };
      const given = ready.but({ status }).subject;
      return conditionOf(decideSpace(given, aSpaceObservation({ ...seen, ...changes }), NOW_MS + 10_000), 'Ready')
        ?.message;
    };
    expect(say({ inventory: undefined })).toContain('since 2026-11-20T11:00:00Z');
    // It was reached in between: this is another outage.
    expect(say({})).toContain('since 2026-11-20T12:00:00Z');
    expect(say({ inventory: undefined }, { reason: 'CredentialsInvalid' })).toContain('since 2026-11-20T12:00:00Z');
  });

  it('names the Secrets if a List is refused for its token', () => {
    const decision = decideSpace(ready.subject, aSpaceObservation({ listError: apiError('unauthorized') }));
    expect(conditionOf(decision, 'Ready')?.message).toMatch(/in Secrets "cloud-read", "cloud-write", "cloud-admin"$/);
  });

  it('is not worse than unknown while the cloud was never reached', () => {
    const seen = aSpaceObservation({ listError: apiError('lost'), exchanged: false });
    const decision = decideSpace(aSpace().subject, seen);
    expect(outline(decision).ready).toBe('Unknown CloudUnreachable');
    expect(conditionOf(decision, 'CredentialsValid')?.status).toBe('Unknown');
  });

  it.each([
    ['throttled', 119_000],
    ['unreachable', 9_000],
    ['lost', 9_000],
    ['unavailable', 9_000],
  ] as const)('reports at once Lists that end with %s if the space was not Ready, or was never listed', (...given) => {
    const [kind, forMs] = given;
    const seen = { listError: apiError(kind), failingSinceMs: NOW_MS };
    const isReady = (subject: SpaceSubject, ms: number = forMs) =>
      outline(decideSpace(subject, aSpaceObservation(seen), NOW_MS + ms)).ready === 'True Observed';
    expect(isReady(ready.subject)).toBe(true);
    expect(isReady(ready.subject, forMs + 1_000)).toBe(false);
    expect(isReady(aSpace().subject)).toBe(false);
    const neverListed = aSpaceObservation({ ...seen, inventory: undefined });
    expect(outline(decideSpace(ready.subject, neverListed, NOW_MS + forMs)).ready).toMatch(/^False Cloud/);
  });

  it('reports only what it has seen: no clusters before a List, no versions if they cannot be listed', () => {
    const refused = [{ secretName: 'cloud-write', error: apiError('unauthorized', 401) }];
    expect(decideSpace(ready.subject, aSpaceObservation({ refused, inventory: undefined })).status).toEqual({
      keptSecrets: null,
    });
    const decision = decideSpace(ready.subject, aSpaceObservation({ versions: undefined }));
    expect(decision.status?.availableVersions).toBeNull();
  });

  it('shows two hundred versions at most: a status that is too large could not be written at all', () => {
    const versions = Array.from({ length: 100_000 }, (_, index) => `3.${index}.0`);
    const { status } = decideSpace(ready.subject, aSpaceObservation({ versions }));
    expect(status?.availableVersions).toEqual(versions.slice(0, 200));
  });

  it('says that it observes, and what is known of the tokens of this very spec, in words', () => {
    const known = {
      type: 'CredentialsValid',
      status: 'True',
      reason: 'TokensExchanged',
      message: 'As before',
    } as const;
    const { metadata, status } = aSpace().subject;
    const conditions = [{ ...known, observedGeneration: metadata.generation ?? 0, lastTransitionTime: '' }];
    const given = aSpace().but({ status: { ...status, conditions } }).subject;
    const waits = decideSpace(given, aSpaceObservation({ inventory: undefined, exchanged: false }));
    expect(conditionOf(waits, 'CredentialsValid')).toMatchObject(known);
    // With another baseURL, say, the tokens are to be exchanged by another cloud.
    const edited = { ...given, metadata: { ...metadata, generation: 2 } };
    const unanswered = decideSpace(edited, aSpaceObservation({ listError: apiError('unreachable'), exchanged: false }));
    expect(conditionOf(unanswered, 'CredentialsValid')).toMatchObject({ status: 'Unknown', reason: 'NotExchanged' });
    const observes = decideSpace(given, aSpaceObservation());
    expect(conditionOf(observes, 'Ready')?.message).toBe('Space "production" of team "acme" is observed');
    expect(conditionOf(observes, 'CredentialsValid')?.message).toBe('Every API token was exchanged');
  });

  it('treats a List that ends with no usable answer as a cloud that cannot be reached', () => {
    const decision = decideSpace(ready.subject, aSpaceObservation({ listError: new Error('oops') }));
    expect(outline(decision).ready).toBe('False CloudUnreachable');
    expect(conditionOf(decision, 'Ready')?.message).toMatch(
      /^oops\. Next try within a minute\. If this persists, check /,
    );
  });

  it.each([
    ['held back', 'unavailable', undefined, 1, 'As first told'],
    ['answered', 'unavailable', 503, 1, 'said no'],
    ['held back for another spec', 'unavailable', undefined, 0, 'said no'],
    ['held back for another reason', 'throttled', undefined, 1, 'said no'],
  ] as const)('leaves what was reported of an outage as it is while Lists are %s', (...given) => {
    const [, kind, status, observedGeneration, message] = given;
    const told = { type: 'Ready', status: 'False', reason: 'CloudUnreachable', message: 'As first told' } as const;
    const conditions = [{ ...told, observedGeneration, lastTransitionTime: '' }];
    const subject = ready.but({ status: { ...ready.subject.status, conditions } }).subject;
    const generation = { ...subject, metadata: { ...subject.metadata, generation: 1 } };
    const decision = decideSpace(generation, aSpaceObservation({ listError: apiError(kind, status) }));
    expect(conditionOf(decision, 'Ready')?.message).toContain(message);
  });

  it.each([
    ['nothing needs', { keptSecrets: ['a'], leavingSecrets: ['a'] }, 'a finalizer keeps it'],
    ['the clusters do not need', { neededBy: ['shop/orders'], leavingSecrets: ['a'] }, 'a finalizer keeps it'],
    [
      'the clusters need in part',
      { neededBy: ['shop/orders'], keptSecrets: ['a'], leavingSecrets: ['a', 'b'] },
      'deleting these DatabaseClusters may need them: shop/orders',
    ],
  ])('says why a deleted Secret still exists that %s', (_what, needs, why) => {
    const decision = decideSpace(ready.subject, aSpaceObservation({}, needs));
    expect(conditionOf(decision, 'Ready')?.message).toContain(`only because ${why}. `);
  });

  it('keeps what clusters need even while it is being deleted, says what else it sees, and does nothing more', () => {
    const neededBy = Array.from({ length: 10 }, (_, index) => `shop/cluster-${index}`);
    const needs = { neededBy, freeSecrets: ['cloud-admin'] };
    const status = { ...ready.subject.status, keptSecrets: ['cloud-admin'] };
    const { subject } = ready.but({ deleting: true, status });
    const decision = decideSpace(subject, aSpaceObservation({}, needs));
    expect(decision).toMatchObject({ hold: true, steps: [], status: { keptSecrets: ['cloud-admin'] } });
    expect(conditionOf(decision, 'CredentialsValid')?.status).toBe('True');
    expect(conditionOf(decision, 'Ready')?.message).toMatch(/shop\/cluster-9$/);
    const refused = [{ secretName: 'cloud-admin', error: apiError('unauthorized', 401) }];
    const stuck = decideSpace(subject, aSpaceObservation({ refused }, needs));
    expect(conditionOf(stuck, 'Ready')?.message).toContain('being deleted');
    expect(conditionOf(stuck, 'CredentialsValid')?.message).not.toContain('being deleted');
  });

  it('reports a Secret that somebody has deleted: why it still exists, and what to do', () => {
    const needs = { neededBy: ['shop/orders'], keptSecrets: ['cloud-admin'], leavingSecrets: ['cloud-admin'] };
    const decision = decideSpace(ready.subject, aSpaceObservation({}, needs));
    expect(outline(decision)).toMatchObject({ ready: 'True SecretDeleting', summary: 'none' });
    expect(conditionOf(decision, 'Ready')?.message).toMatch(
      /^Secret "cloud-admin" is being deleted, and is there only because deleting these DatabaseClusters may need it: shop\/orders\. To go on using this space, put what is in it into a Secret of another name, and name that one in the spec$/,
    );
    const foreign = decideSpace(ready.subject, aSpaceObservation({}, { leavingSecrets: ['a', 'b'] }));
    expect(conditionOf(foreign, 'Ready')?.message).toMatch(
      /^Secrets "a", "b" are being deleted, and are there only because a finalizer keeps them\. .* into Secrets of other names, and name those in the spec$/,
    );
  });

  it('keeps the Secrets that deleting a cluster needs, and stays itself', () => {
    const needs = { neededBy: ['shop/orders'], freeSecrets: ['cloud-admin'], keptSecrets: ['factory-login'] };
    const named = ready.but({ status: { ...ready.subject.status, keptSecrets: ['cloud-admin', 'factory-login'] } });
    const decision = decideSpace(named.subject, aSpaceObservation({}, needs));
    expect(decision.steps).toEqual([{ do: 'KeepSecret', name: 'cloud-admin' }]);
    expect(decision.hold).toBe(true);
  });

  it('names a Secret in the status before it keeps it, so that it is found again whatever is forgotten', () => {
    const needs = {
      neededBy: ['shop/orders'],
      freeSecrets: ['cloud-admin'],
      keptSecrets: [],
      staleSecrets: ['former'],
    };
    const decision = decideSpace(ready.subject, aSpaceObservation({}, needs));
    expect(decision.status?.keptSecrets).toEqual(['cloud-admin', 'former']);
    expect(decision.steps).toEqual([{ do: 'FreeSecret', name: 'former' }]);
    expect(decision.requeueAfterMs).toBe(0);
  });

  it('goes on naming a Secret until it was seen to be free', () => {
    const needs = { neededBy: [], freeSecrets: ['cloud-admin'], keptSecrets: ['factory-login'] };
    const decision = decideSpace(ready.subject, aSpaceObservation({}, needs));
    expect(decision.status?.keptSecrets).toEqual(['factory-login']);
    expect(decideSpace(ready.subject, aSpaceObservation()).status?.keptSecrets).toBeNull();
  });

  it('releases the Secrets that nothing needs any more', () => {
    const decision = decideSpace(ready.subject, aSpaceObservation({}, { keptSecrets: ['cloud-admin'] }));
    expect(decision.steps).toEqual([{ do: 'FreeSecret', name: 'cloud-admin' }]);
  });

  it('releases the Secrets that the spec no longer names, even while others are needed', () => {
    const needs = { neededBy: ['shop/orders'], keptSecrets: ['cloud-admin'], staleSecrets: ['cloud-old'] };
    const free = { do: 'FreeSecret', name: 'cloud-old' };
    expect(decideSpace(ready.subject, aSpaceObservation({}, needs)).steps).toEqual([free]);
    const going = { ...aSpaceObservation({}, { staleSecrets: ['cloud-old'] }), cloud: undefined };
    expect(decideSpace(ready.but({ deleting: true }).subject, going).steps).toEqual([free]);
  });

  it('names who needs it while it is being deleted, up to ten', () => {
    const neededBy = Array.from({ length: 12 }, (_, index) => `shop/cluster-${index}`);
    const deleting = ready.but({ deleting: true });
    const decision = decideSpace(deleting.subject, aSpaceObservation({}, { neededBy, freeSecrets: ['cloud-admin'] }));
    expect(outline(decision)).toMatchObject({ ready: 'Unknown InUse', summary: 'Reconciling', steps: [] });
    expect(decision.release).toBeUndefined();
    // One sentence: `mooring status` shows the first one only.
    expect(conditionOf(decision, 'Ready')?.message).toMatch(
      /^[^.]* are gone, or have deletionPolicy: Retain, as deleting them needs it: shop\/cluster-0,.* shop\/cluster-9 and 2 more$/,
    );
  });

  it.each([false, true])(
    'has its finalizer if something on a server is deleted with its object (%s)',
    (hasDependents) => {
      expect(decideSpace(ready.subject, aSpaceObservation({}, { hasDependents })).hold).toBe(hasDependents);
    },
  );

  it('stays a while for what is being deleted on the servers of its clusters, whatever else is wrong', () => {
    const goesAfter = { message: 'Waiting for DatabaseUser shop/app', forMs: 7_000 };
    const error = apiError('unreachable');
    const observation = aSpaceObservation({ listError: error, exchanged: false }, { goesAfter });
    const decision = decideSpace(ready.but({ deleting: true }).subject, observation);
    expect(outline(decision)).toEqual({
      ready: 'Unknown WaitingForDependents',
      summary: 'Reconciling',
      steps: [],
      comesBack: '7000 ms',
    });
    expect(conditionOf(decision, 'Ready')?.message).toBe(goesAfter.message);
  });

  it('names the clusters whose deletion needs it rather than what is on them', () => {
    const needs = { neededBy: ['shop/orders'], goesAfter: { message: 'Waiting', forMs: 7_000 } };
    const decision = decideSpace(ready.but({ deleting: true }).subject, aSpaceObservation({}, needs));
    expect(outline(decision).ready).toBe('Unknown InUse');
  });

  it('goes when nothing needs it', () => {
    const observation = { ...aSpaceObservation({}, { keptSecrets: ['cloud-admin'] }), cloud: undefined };
    const decision = decideSpace(ready.but({ deleting: true }).subject, observation);
    expect(decision).toEqual({
      conditions: 'keep',
      release: true,
      steps: [{ do: 'FreeSecret', name: 'cloud-admin' }],
    });
  });

  it('distinguishes a cloud that answers nonsense from one that does not answer', () => {
    const said = decideSpace(ready.subject, aSpaceObservation({ listError: apiError('badAnswer', 200) }));
    expect(outline(said)).toMatchObject({ ready: 'False CloudAnswerUnusable', summary: 'Reconciling' });
    expect(conditionOf(said, 'Ready')?.message).toContain('Check that baseURL is');
  });

  it('sends nobody to look for a proxy because of one cluster that makes no sense', () => {
    const seen = aSpaceObservation({ listError: apiError('badAnswer', 200), isPartial: true });
    const said = decideSpace(ready.subject, seen);
    expect(outline(said)).toMatchObject({ ready: 'False CloudAnswerUnusable', summary: 'Reconciling' });
    expect(conditionOf(said, 'Ready')?.message).not.toContain('baseURL');
    expect(conditionOf(said, 'Ready')?.message).toContain("check it in the cloud's console");
  });

  it('says the same throughout an outage, whether it could try or not', () => {
    const said = decideSpace(ready.subject, aSpaceObservation({ listError: apiError('unreachable') }));
    const conditions = [conditionOf(said, 'Ready')].map((condition) => ({
      type: 'Ready',
      status: 'False' as const,
      reason: condition?.reason ?? '',
      message: condition?.message ?? '',
      lastTransitionTime: '',
    }));
    const later = ready.but({ status: { ...ready.subject.status, conditions } });
    const held = decideSpace(later.subject, aSpaceObservation({ listError: apiError('unavailable') }));
    expect(conditionOf(held, 'Ready')).toEqual(conditionOf(said, 'Ready'));
    const other = decideSpace(later.subject, aSpaceObservation({ listError: apiError('unavailable', 503) }));
    expect(conditionOf(other, 'Ready')?.message).not.toBe(conditionOf(said, 'Ready')?.message);
  });
});
