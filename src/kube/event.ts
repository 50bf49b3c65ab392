import { GROUP } from '../base/group.ts';
import { type Random, uuid } from '../base/random.ts';
import type { ConditionUpdate } from './condition.ts';
import type { KubeObject } from './object.ts';

/** The API server's limits: bytes of a note, and characters of a name that leave room for a dot and 13 more. */
const MAX_NOTE_BYTES = 1024;
const MAX_NAME = 253 - 14;

/** What an Event says about its object: what Ready has become, or something else. */
export type EventReport = Omit<ConditionUpdate, 'type'>;

/** Returns the message, cut to what an Event takes. */
export function noteOf(message: string): string {
  const { read } = new TextEncoder().encodeInto(message, new Uint8Array(MAX_NOTE_BYTES));
  return message.slice(0, read);
}

/** Returns a name for an Event about the object. Each part between dots must end with a letter or digit. */
export function eventNameFor({ metadata }: KubeObject, random: Random): string {
  const prefix = metadata.name.slice(0, MAX_NAME).replace(/[-.]+$/, '');
  return `${prefix}.${uuid(random).slice(0, 13)}`;
}

/** Returns an Event of events.k8s.io/v1 in that namespace. `time`: a MicroTime; `instance`: the process that reports it. */
export function newEvent(
  { apiVersion, kind, metadata }: KubeObject,
  { status, reason, message, warning }: EventReport,
  about: { readonly namespace: string; readonly name: string; readonly time: string; readonly instance: string },
) {
  const { name, uid, resourceVersion } = metadata;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { namespace: about.namespace, name: about.name },
    eventTime: about.time,
    reportingController: `${GROUP}/mooring`,
    reportingInstance: about.instance,
    action: 'Reconcile',
    reason,
    type: status === 'False' || warning ? 'Warning' : 'Normal',
    note: noteOf(message),
    regarding: { apiVersion, kind, namespace: about.namespace, name, uid, resourceVersion },
  };
}
