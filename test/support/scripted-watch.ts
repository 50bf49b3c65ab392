import { expect } from 'vitest';
import { sleep } from '../../src/base/clock.ts';
import { HttpError } from '../../src/base/transport.ts';
import {
  type AnyObject,
  type KubeApi,
  KubeError,
  type ListOptions,
  type ListPage,
  SECRETS,
  type WatchEvent,
  type WatchOptions,
} from '../../src/kube/api.ts';
import type { LISTS } from '../../src/kube/list.ts';
import { type ReflectorEvent, type ReflectorOptions, runReflector } from '../../src/runtime/reflector.ts';
import { virtualClock } from '../../src/sandbox/virtual-clock.ts';
import { noChance } from './clock.ts';

/* A reflector, and an API that answers it from a script. */

export const object = (name: string, version: number): AnyObject => ({
  metadata: { namespace: 'ns', name, uid: name, resourceVersion: String(version) },
});
export const added = (name: string, version: number): WatchEvent => ({ type: 'ADDED', object: object(name, version) });
export const page = (version: number, items: AnyObject[] = [], continueToken?: string): ListPage => ({
  items,
  resourceVersion: String(version),
  continueToken,
});
export const tooOld = new KubeError('too old resource version', { status: 410, reason: 'Expired' });

/** What one watch does: it sends its events, then stays open (`open`), closes, or fails. */
export interface ScriptedWatch {
  readonly events?: readonly WatchEvent[];
  readonly end: 'open' | 'close' | Error;
  /** How long it lives before it ends. */
  readonly afterMs?: number;
  /** How long it waits for its turn, and whether the server counts as reachable then. Default: no turn is needed. */
  readonly turn?: { readonly afterMs?: number; readonly isReached: boolean };
}

export interface Play {
  readonly lists: readonly (ListPage | Error)[];
  readonly watches: readonly ScriptedWatch[];
  /** Whether the API can begin a watch with a list. This is logged as a list, and as a watch once it goes on as one. */
  readonly streams: boolean;
  readonly took?: (() => Promise<void>) | undefined;
  readonly more?: Partial<ReflectorOptions<AnyObject>>;
}

/** A reflector on an API that plays one script for lists and one for watches; the last entry of each repeats for ever. */
export function play({ lists, watches, streams, took, more }: Play) {
  const clock = virtualClock();
  const calls: string[] = [];
  const events: ReflectorEvent[] = [];
  const failures: { readonly error: unknown; readonly retryInMs: number }[] = [];
  const stop = new AbortController();
  const counts = { list: 0, watch: 0, ended: 0 };
  const ways: (keyof typeof LISTS)[] = [];
  const asked: (WatchOptions | ListOptions)[] = [];
  const nextList = (way: keyof typeof LISTS) => {
    ways.push(way);
    const answer = lists[Math.min(counts.list++, lists.length - 1)];
    if (answer === undefined || answer instanceof Error) throw answer;
    return answer;
  };
  const unused = () => Promise.reject(new Error('Not called by a reflector'));
  const api: KubeApi = {
    get: unused,
    create: unused,
    patch: unused,
    delete: unused,
    list: async (_resource, options) => {
      const { notOlderThan, continueToken, limit } = options;
      asked.push(options);
      calls.push(`list ${notOlderThan ?? '-'}${continueToken === undefined ? '' : ` ${continueToken}`}`);
      return nextList(limit === undefined ? 'whole' : 'pages');
    },
    watch: async function* (_resource, options, signal) {
      const { resourceVersion, sendInitialEvents, timeoutSeconds, onTurn } = options;
      asked.push(options);
      expect(timeoutSeconds).toBeGreaterThanOrEqual(240);
      if (sendInitialEvents) {
        if (!streams) throw new KubeError('sendInitialEvents: Forbidden', { status: 422, reason: 'Invalid' });
        calls.push(`list ${resourceVersion ?? '-'}`);
        const { items, resourceVersion: version, continueToken } = nextList('stream');
        for (const item of items) yield { type: 'ADDED', object: item };
        if (continueToken !== undefined) return;
        try {
          yield { type: 'BOOKMARK', resourceVersion: version, endsInitialEvents: true };
        } finally {
          counts.ended++;
        }
        counts.ended--;
        calls.push(`watch ${version}`);
      } else calls.push(`watch ${resourceVersion}`);
      const script = watches[Math.min(counts.watch++, watches.length - 1)];
      const { turn } = script ?? {};
      if (turn?.afterMs !== undefined) await sleep(clock, turn.afterMs);
      if (turn !== undefined) onTurn?.(turn.isReached);
      yield* script?.events ?? [];
      const { end = 'open', afterMs = 0 } = script ?? {};
      if (end === 'open') return await new Promise<void>((done) => signal?.addEventListener('abort', () => done()));
      if (afterMs > 0) await new Promise<void>((done) => clock.after(afterMs, done));
      if (end instanceof Error) throw end;
    },
  };
  const running = runReflector(
    {
      api,
      resource: SECRETS,
      transform: (each) => each,
      clock,
      random: noChance,
      onEvent: async (event) => {
        events.push(event);
        if (event.type !== 'listing') await took?.();
      },
      onFailure: (error, retryInMs) => failures.push({ error, retryInMs }),
      ...more,
    },
    stop.signal,
  );
  return { clock, api, calls, asked, ways, counts, events, failures, stop, running };
}

export const OPEN: ScriptedWatch = { end: 'open' };

export function away(isReached: boolean): ScriptedWatch {
  return { end: new HttpError('unreachable', 'Connection refused'), turn: { isReached } };
}
