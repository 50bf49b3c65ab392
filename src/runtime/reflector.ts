/*
 * Follows a collection, like client-go's Reflector: lists it, then watches it from there, for ever.
 *
 *   list ──ok──► watch ──closed or failed──► watch (from the last version seen)
 *    ▲  │failed     │ too old (410) or refused otherwise (such as 404), or failed again and again
 *    └──┴───────────┘
 *
 * A list comes as the start of a watch, which then goes on; in pages if the server does not stream, and in one answer if those expire.
 * Each state is a value and each failure leads to one; after a failure the next step waits with backoff and jitter.
 * It never stops by itself, and never goes back behind what it has seen: lists must be at least as new. The exception is a server whose
 * whole world went back, as when etcd was restored: such a server keeps a watch open and reports nothing.
 */

import { backoffMs } from '../base/backoff.ts';
import { type Clock, sleep } from '../base/clock.ts';
import { Pace } from '../base/pace.ts';
import type { Random } from '../base/random.ts';
import { HttpError } from '../base/transport.ts';
import { type AnyObject, isRefused, type KubeApi, KubeError, type Resource, type WatchOptions } from '../kube/api.ts';
import { isBehind, LISTS, type ListAttempt, type ListedCollection, listAfter, type ObjectEvent } from '../kube/list.ts';
import { compareVersions, keyOf, type ObjectKey } from '../kube/object.ts';
import type { TurnOptions } from '../kube/reachability.ts';

type Listing = { readonly phase: 'list' } & ListAttempt;
/** `heardAt`: when the server last told anything, by however many watches since. */
type Watching = { readonly phase: 'watch'; readonly heardAt?: number } & ListedCollection;

export type ReflectorEvent<T = AnyObject> =
  /** A list is about to be sent. `isNewest`: it asks for what is true now, whatever was seen before. */
  | { readonly type: 'listing'; readonly isNewest: boolean }
  | { readonly type: 'applied' | 'deleted'; readonly object: T }
  /** A list has ended: at that version only these objects exist, and each was reported. */
  | { readonly type: 'listed'; readonly keys: ReadonlySet<ObjectKey>; readonly resourceVersion: string };

export interface ReflectorOptions<T> {
  readonly api: KubeApi;
  readonly resource: Resource;
  readonly namespace?: string | undefined;
  /** Only the object with this name. */
  readonly name?: string | undefined;
  readonly metadataOnly?: boolean | undefined;
  /** Returns what is reported of an object (client-go's TransformFunc). */
  readonly transform: (object: AnyObject) => T;
  readonly clock: Clock;
  readonly random: Random;
  /** If it returns a promise, nothing more is read until that resolves. */
  readonly onEvent: (event: ReflectorEvent<T>) => void | Promise<void>;
  /** A step failed. The next one comes after `retryInMs`, or later if the API has reflectors take turns. */
  readonly onFailure: (error: unknown, retryInMs: number, namespace: string | undefined) => void;
}

/** client-go's Reflector: 0.8 s doubled up to 30 s. But each phase has its own, so that failing watches do not delay a list. */
const BACKOFF = { initialMs: 800, maxMs: 30_000 };
/** How often to ask a server that is away is up to the client (Reachability). If others are answered, this many misses do not count. */
const MISSES = 2;
/** Answered watches in a row that did not work: after this many, watching from there will not bring what is missing. */
const RELIST_AFTER = 5;
const ENDED = 'Watches end at once, without any event';
/** A watch that just ended worked if it lasted this long: otherwise it is reopened after a pause. */
const WORKING_MS = 1_000;
/** A watch that lasted this long worked, whatever error ended it: what follows it starts with short delays again. */
const HEALTHY_MS = 120_000;
/** Bookmarks come once a minute if the API server knows what is new. After this long without an event, the server is asked. */
const SILENT_MS = 120_000;

export async function runReflector<T>(options: ReflectorOptions<T>, signal: AbortSignal): Promise<void> {
  const { clock, random, namespace } = options;
  let state: Listing | Watching = { phase: 'list', notOlderThan: undefined, by: 'stream' };
  let failures = { list: 0, watch: 0 };
  /** Unanswered requests, while others were answered, since one of this reflector's own was. */
  let misses = 0;
  /** Watches in a row that were answered and did not work. */
  let broken = 0;
  while (!signal.aborted) {
    let sent = { at: clock.monotonic(), isReached: true };
    const onTurn = (isReached: boolean) => {
      sent = { at: clock.monotonic(), isReached };
    };
    const scope = { ...options, onTurn };
    const next: StepResult = await (state.phase === 'list' ? list(scope, state, signal) : watch(scope, state, signal));
    if (signal.aborted) return close(next.state);
    const lived = clock.monotonic() - sent.at;
    const { error } = next;
    const isAnswered = !(error instanceof HttpError && error.isUnanswered);
    misses = isAnswered ? 0 : misses + (sent.isReached ? 1 : 0);
    const worked = lived >= (isEnd(error) ? WORKING_MS : HEALTHY_MS);
    // A list alone proves nothing: one that is followed each time by a failing watch must not be repeated at once.
    if (state.phase === 'watch' && worked) failures = { list: 0, watch: 0 };
    const isBroken = isAnswered && !worked && !(error instanceof KubeError && error.status === 429);
    broken = state.phase === 'watch' && isBroken ? broken + 1 : 0;
    const goOn = error === undefined && (state.phase === 'list' || worked);
    state = next.state;
    if (goOn) continue;
    const asked = error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0;
    const attempt = isAnswered ? failures[state.phase]++ : Math.max(0, misses - MISSES);
    if (state.phase === 'watch' && broken >= RELIST_AFTER)
      state = { phase: 'list', notOlderThan: state.resourceVersion, by: 'stream' };
    const delayMs = Math.max(asked, backoffMs(BACKOFF, attempt, random));
    if (error !== undefined || state.phase === 'list') options.onFailure(error ?? new Error(ENDED), delayMs, namespace);
    await sleep(clock, delayMs, signal);
  }
}

/** Whether a watch just ended. Proxies cut healthy connections, too, and client-go takes that for an end like any other. */
function isEnd(error: unknown): boolean {
  return error === undefined || (error instanceof HttpError && error.kind === 'lost' && !error.isUnanswered);
}

type StepOptions<T> = ReflectorOptions<T> & TurnOptions;

/** The result of one list, or of one watch until it ends. Neither throws: a failure is part of the result. */
interface StepResult {
  readonly state: Listing | Watching;
  readonly error?: unknown;
}

async function list<T>(options: StepOptions<T>, state: Listing, signal: AbortSignal): Promise<StepResult> {
  const { api, resource, onEvent } = options;
  const { notOlderThan, by } = state;
  const keys = new Set<ObjectKey>();
  let newest = notOlderThan; // What was reported counts as seen, even if the list then breaks.
  let listed: ListedCollection | undefined;
  // There may be thousands, and each may lead to a lot.
  const pace = new Pace(options.clock);
  const tell = async (event: ObjectEvent) => {
    keys[event.type === 'DELETED' ? 'delete' : 'add'](keyOf(event.object));
    const { metadata } = event.object;
    if (newest && compareVersions(metadata, { resourceVersion: newest }) > 0) newest = metadata.resourceVersion;
    await take(options, event);
    if (pace.due) await pace.rest();
  };
  try {
    await onEvent({ type: 'listing', isNewest: notOlderThan === undefined });
    listed = await LISTS[by](api, resource, following(options, notOlderThan), tell, signal);
    await onEvent({ type: 'listed', keys, resourceVersion: listed.resourceVersion });
    return { state: { phase: 'watch', ...listed } };
  } catch (error) {
    if (listed !== undefined) await close({ phase: 'watch', ...listed });
    return { state: { phase: 'list', ...listAfter(error, state, newest) }, error };
  }
}

async function watch<T>(options: StepOptions<T>, state: Watching, signal: AbortSignal): Promise<StepResult> {
  const { api, resource, clock } = options;
  let { resourceVersion, heardAt = clock.monotonic() } = state;
  let error: unknown;
  try {
    for await (const event of state.further ?? api.watch(resource, following(options, resourceVersion), signal)) {
      if (event.type !== 'BOOKMARK') await take(options, event);
      ({ resourceVersion } = event.type === 'BOOKMARK' ? event : event.object.metadata);
      heardAt = clock.monotonic();
    }
  } catch (cause) {
    error = cause;
  }
  // What is refused as a watch may be allowed as a list.
  if (isRefused(error)) return { state: { phase: 'list', notOlderThan: resourceVersion, by: 'stream' }, error };
  const isSilent = isEnd(error) && !signal.aborted && clock.monotonic() - heardAt >= SILENT_MS;
  if (isSilent && (await isBehind(api, resource, following(options, resourceVersion), signal)))
    return { state: { phase: 'list', notOlderThan: undefined, by: 'stream' }, error };
  return { state: { phase: 'watch', resourceVersion, ...(isSilent ? {} : { heardAt }) }, error };
}

/** Closes the watch that the list began, if any. */
async function close(state: Listing | Watching): Promise<void> {
  if (state.phase === 'watch') await state.further?.[Symbol.asyncIterator]().return?.();
}

async function take<T>({ onEvent, transform }: ReflectorOptions<T>, { type, object }: ObjectEvent): Promise<void> {
  await onEvent({ type: type === 'DELETED' ? 'deleted' : 'applied', object: transform(object) });
}

function following<T>(options: StepOptions<T>, resourceVersion: string | undefined): WatchOptions {
  const { namespace, name, metadataOnly, onTurn, random } = options;
  // Between 4 and 6 minutes, so that watches which began together do not end together.
  const timeoutSeconds = Math.round(240 + 120 * random.float());
  return { namespace, name, metadataOnly, onTurn, resourceVersion, timeoutSeconds };
}
