/*
 * Follows a collection, as client-go's reflector: lists it, then watches it from there, for ever.
 *
 *   list ──ok──► watch ──closed or failed──► watch (from the last version seen)
 *    ▲  │failed     │ too old (410) or refused otherwise (such as 404), or failed at once, again and again
 *    └──┴───────────┘
 *
 * A list comes as the begin of a watch, which then goes on; in pages where that fails, and in one answer where those expire.
 * Each state is a value and each failure leads to one; after a failure the next step waits with backoff and jitter.
 * It never stops by itself, and never goes back behind what it has seen: a list is asked to be at least as new. Only where the
 * server's whole world went back, as when etcd was restored, it takes that in: such a server keeps a watch open and tells nothing.
 */

import { backoffMs } from '../base/backoff.ts';
import { type Clock, sleep } from '../base/clock.ts';
import { HttpError } from '../base/http.ts';
import { Pace } from '../base/pace.ts';
import type { Random } from '../base/random.ts';
import {
  type AnyObject,
  isGone,
  isRefused,
  type KubeApi,
  KubeError,
  type Resource,
  type WatchOptions,
} from '../kube/api.ts';
import { isBehind, LISTS, type ListedCollection, type Told } from '../kube/list.ts';
import { compareVersions, keyOf, type ObjectKey } from '../kube/object.ts';
import type { TurnOptions } from '../kube/reachability.ts';

type Listing = { readonly phase: 'list'; readonly notOlderThan: string | undefined; readonly by: keyof typeof LISTS };
type Watching = { readonly phase: 'watch' } & ListedCollection;

export type ReflectorEvent<T = AnyObject> =
  /** A list is about to be asked for. `isNewest`: for what is true now, whatever was seen before. */
  | { readonly type: 'listing'; readonly isNewest: boolean }
  | { readonly type: 'applied' | 'deleted'; readonly object: T }
  /** A list has ended: none are there but these, each of which was told of. */
  | { readonly type: 'listed'; readonly keys: ReadonlySet<ObjectKey> };

export interface ReflectorOptions<T> {
  readonly api: KubeApi;
  readonly resource: Resource;
  readonly namespace?: string | undefined;
  /** Only the object of this name. */
  readonly name?: string | undefined;
  readonly metadataOnly?: boolean | undefined;
  /** What is told of an object (client-go's TransformFunc). */
  readonly transform: (object: AnyObject) => T;
  readonly clock: Clock;
  readonly random: Random;
  /** Nothing more is read until the promise resolves, if it gives one. */
  readonly onEvent: (event: ReflectorEvent<T>) => void | Promise<void>;
  /** A step failed; the next one comes after `retryInMs`, or later where the API has reflectors take turns. */
  readonly onFailure: (error: unknown, retryInMs: number) => void;
}

/** client-go's reflector: 0.8 s doubled up to 30 s, but that each phase has its own: that watches fail makes no list come late. */
const BACKOFF = { initialMs: 800, maxMs: 30_000 };
/** How often to ask a server that is away is the client's affair (Reachability). Where others are answered, so often without backoff. */
const MISSES = 2;
/** After so many watches that failed or ended at once: what they are to tell of cannot be had by watching from there. */
const RELIST_AFTER = 5;
const ENDED = 'Watches end at once, and tell nothing';
/** A watch that the server closes earlier is opened again after a pause. */
const WORKING_MS = 1_000;
/** A watch that lived so long was healthy, however it ended: what comes after it starts with short delays again. */
const HEALTHY_MS = 120_000;
/** Bookmarks come once a minute where the API server knows what is new: who heard nothing for so long asks. */
const SILENT_MS = 120_000;

export async function runReflector<T>(options: ReflectorOptions<T>, signal: AbortSignal): Promise<void> {
  const { clock, random } = options;
  let state: Listing | Watching = { phase: 'list', notOlderThan: undefined, by: 'stream' };
  let failures = { list: 0, watch: 0 };
  /** Requests that were not answered where others were, since one of this reflector's own was. */
  let misses = 0;
  /** Watches, one after the other, that failed or ended at once though they were answered. */
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
    const ended = error === undefined;
    const isAnswered = !(error instanceof HttpError && error.isUnanswered);
    misses = isAnswered ? 0 : misses + (sent.isReached ? 1 : 0);
    // A list alone proves nothing: one that is followed each time by a watch that fails must not be repeated at once.
    if (state.phase === 'watch' && lived >= (ended ? WORKING_MS : HEALTHY_MS)) failures = { list: 0, watch: 0 };
    const isBroken = isAnswered && lived < WORKING_MS && !(error instanceof KubeError && error.status === 429);
    broken = state.phase === 'watch' && isBroken ? broken + 1 : 0;
    const goOn = ended && (state.phase === 'list' || lived >= WORKING_MS);
    state = next.state;
    if (goOn) continue;
    const asked = error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0;
    const attempt = isAnswered ? failures[state.phase]++ : Math.max(0, misses - MISSES);
    if (state.phase === 'watch' && broken >= RELIST_AFTER)
      state = { phase: 'list', notOlderThan: state.resourceVersion, by: 'stream' };
    const delayMs = Math.max(asked, backoffMs(BACKOFF, attempt, random));
    if (error !== undefined || state.phase === 'list') options.onFailure(error ?? new Error(ENDED), delayMs);
    await sleep(clock, delayMs, signal);
  }
}

type StepOptions<T> = ReflectorOptions<T> & TurnOptions;

/** Of one list, or one watch until it ends. Neither throws: a failure is part of the result. */
interface StepResult {
  readonly state: Listing | Watching;
  readonly error?: unknown;
}

async function list<T>(options: StepOptions<T>, state: Listing, signal: AbortSignal): Promise<StepResult> {
  const { api, resource, onEvent } = options;
  const { notOlderThan, by } = state;
  const keys = new Set<ObjectKey>();
  let newest = notOlderThan; // What was told of counts as seen, also where the list then breaks.
  let listed: ListedCollection | undefined;
  // Each of thousands may lead to much.
  const pace = new Pace(options.clock);
  const tell = async (event: Told) => {
    keys[event.type === 'DELETED' ? 'delete' : 'add'](keyOf(event.object));
    const { metadata } = event.object;
    if (newest && compareVersions(metadata, { resourceVersion: newest }) > 0) newest = metadata.resourceVersion;
    await take(options, event);
    if (pace.due) await pace.rest();
  };
  try {
    await onEvent({ type: 'listing', isNewest: notOlderThan === undefined });
    listed = await LISTS[by](api, resource, following(options, notOlderThan), tell, signal);
    await onEvent({ type: 'listed', keys });
    return { state: { phase: 'watch', ...listed } };
  } catch (error) {
    if (listed !== undefined) await close({ phase: 'watch', ...listed });
    // Where no version was asked for, it is a page that has expired.
    const hasExpired = isGone(error) && by === 'pages' && notOlderThan === undefined;
    // A server that was restored from a backup may never be as new as asked: after 410, or 504 for "too large", ask without.
    if (isGone(error) || (error instanceof KubeError && error.status === 504))
      return { state: { phase: 'list', notOlderThan: undefined, by: hasExpired ? 'whole' : 'pages' }, error };
    // As client-go: whoever answers otherwise than by asking for patience may not know how to stream.
    const cannot =
      error instanceof KubeError ? error.status !== 429 : !(error instanceof HttpError && error.isUnanswered);
    return { state: { phase: 'list', notOlderThan: newest, by: by === 'stream' && !cannot ? by : 'pages' }, error };
  }
}

async function watch<T>(options: StepOptions<T>, state: Watching, signal: AbortSignal): Promise<StepResult> {
  const { api, resource, clock } = options;
  let { resourceVersion } = state;
  let heardAt = clock.monotonic();
  try {
    for await (const event of state.further ?? api.watch(resource, following(options, resourceVersion), signal)) {
      if (event.type !== 'BOOKMARK') await take(options, event);
      ({ resourceVersion } = event.type === 'BOOKMARK' ? event : event.object.metadata);
      heardAt = clock.monotonic();
    }
  } catch (error) {
    const relist = { phase: 'list', notOlderThan: resourceVersion, by: 'stream' } as const;
    // What is refused as a watch may be admitted as a list.
    return { state: isRefused(error) ? relist : { phase: 'watch', resourceVersion }, error };
  }
  const asked = following(options, resourceVersion);
  const wentBack = clock.monotonic() - heardAt >= SILENT_MS && (await isBehind(api, resource, asked, signal));
  if (wentBack) return { state: { phase: 'list', notOlderThan: undefined, by: 'stream' } };
  return { state: { phase: 'watch', resourceVersion } };
}

/** A watch that goes on already does so no longer. */
async function close(state: Listing | Watching): Promise<void> {
  if (state.phase === 'watch') await state.further?.[Symbol.asyncIterator]().return?.();
}

async function take<T>({ onEvent, transform }: ReflectorOptions<T>, { type, object }: Told): Promise<void> {
  await onEvent({ type: type === 'DELETED' ? 'deleted' : 'applied', object: transform(object) });
}

function following<T>(options: StepOptions<T>, resourceVersion: string | undefined): WatchOptions {
  const { namespace, name, metadataOnly, onTurn, random } = options;
  // Between 4 and 6 minutes, so that watches which began together do not end together.
  const timeoutSeconds = Math.round(240 + 120 * random.float());
  return { namespace, name, metadataOnly, onTurn, resourceVersion, timeoutSeconds };
}
