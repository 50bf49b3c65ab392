/*
 * Events as the events.k8s.io API takes them, with series as in client-go's tools/events and the spam filter of its tools/record:
 * - Deduplicated: a repeat of an Event from the last six minutes is counted in that Event's series.
 * - Bounded: an object gets 25 Events about Ready, then one every five minutes, and as many for each other reason. One Event is sent at a
 *   time, and a thousand may wait. If an Event is dropped, the object's conditions still show what became of Ready.
 * - Sent again if it may not have arrived, or was told to wait, until the process ends.
 */

import type { Clock } from '../base/clock.ts';
import { Buckets } from '../base/collections/buckets.ts';
import { Recent } from '../base/collections/recent.ts';
import type { Random } from '../base/random.ts';
import { EVENTS, isNamespaceTerminating, isNotFound, type KubeApi } from '../kube/api.ts';
import { type EventReport, eventNameFor, newEvent, noteOf } from '../kube/event.ts';
import { type KubeObject, microTime } from '../kube/object.ts';
import { untilArrived } from '../kube/retry.ts';

/** Reports changes of state to people: `kubectl describe` and `kubectl events` show them. */
export interface EventRecorder {
  /** Records what Ready has become or, `besides`, something else with Events of its own. Returns at once; a failed write is only logged. */
  record(object: KubeObject, ready: EventReport, besides?: boolean): void;
  /** From now on nothing is sent again. Resolves when all that was recorded so far is written, or has failed. */
  shutDown(): Promise<void>;
}

export interface EventRecorderOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly instance: string;
  readonly onFailure: (error: unknown, object: KubeObject) => void;
}

const SERIES_MS = 360_000;
/** client-go's spam filter: an object has a burst of Events, then one per refill time. */
const BURST = 25;
const REFILL_MS = 300_000;
const MAX_WAITING = 1_000;
const REMEMBERED = 4_096;

/** Returns a recorder, as above. Events are written in the background, one after the other. */
export function createEventRecorder({ api, clock, random, instance, onFailure }: EventRecorderOptions): EventRecorder {
  const series = new Recent<string, { readonly name: string; readonly count: number; readonly at: number }>(REMEMBERED);
  /** By uid, and by reason if recorded `besides`. Asked before a token is taken, so it counts one less. */
  const spam = new Buckets({ clock, intervalMs: REFILL_MS, burst: BURST - 1 });
  const end = new AbortController();
  let waiting = 0;
  let last = Promise.resolve();

  return {
    shutDown() {
      end.abort();
      return last;
    },
    record(object, told, besides = false) {
      const { namespace = 'default', uid } = object.metadata;
      const about = besides ? `${uid} ${told.reason}` : uid;
      if (waiting > MAX_WAITING || spam.waitMs(about) > 0) return;
      spam.take(about);
      const key = JSON.stringify([uid, told.status, told.reason, noteOf(told.message)]);
      const time = microTime(clock.now());
      const now = clock.monotonic();
      const known = series.peek(key);
      const repeats = known !== undefined && now - known.at < SERIES_MS;
      const name = repeats ? known.name : eventNameFor(object, random);
      const count = repeats ? known.count + 1 : 1;
      series.set(key, { name, count, at: now });
      const event = newEvent(object, told, { namespace, name, time, instance });
      const create = () => api.create(EVENTS, namespace, event);
      const countUp = () => api.patch(EVENTS, { namespace, name }, { series: { count, lastObservedTime: time } });
      waiting++;
      last = last.then(async () => {
        try {
          // The first Event of a series expires after an hour, or may never have been written.
          const orCreate = (error: unknown) => (isNotFound(error) ? create() : Promise.reject(error));
          await untilArrived(repeats ? () => countUp().catch(orCreate) : create, { clock, random }, end.signal);
        } catch (error) {
          if (!isNamespaceTerminating(error)) onFailure(error, object);
        } finally {
          waiting--;
        }
      });
    },
  };
}
