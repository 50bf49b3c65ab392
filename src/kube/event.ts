import { GROUP } from '../base/group.ts';
import { type Random, uuid } from '../base/random.ts';
import { type ConditionUpdate, KEPT_END } from './condition.ts';
import type { KubeObject } from './object.ts';

/** The API server's limits: bytes of a note, and characters of a name that leave room for a dot and 13 more. */
const MAX_NOTE_BYTES = 1024;
const MAX_NAME = 253 - 14;

/** What an Event says about its object: what Ready has become, or something else. */
export type EventReport = Omit<ConditionUpdate, 'type'>;

/** Returns the message, without its middle if it is longer than an Event takes. */
export function noteOf(message: string): string {
  const bytes = new TextEncoder().encode(message);
  if (bytes.length <= MAX_NOTE_BYTES) return message;
  let end = bytes.length - KEPT_END;
  while (isWithinCharacter(bytes[end])) end++;
  let begin = MAX_NOTE_BYTES - KEPT_END - ELLIPSIS_BYTES;
  while (isWithinCharacter(bytes[begin])) begin--;
  const text = (part: Uint8Array) => new TextDecoder().decode(part);
  return `${text(bytes.subarray(0, begin))}…${text(bytes.subarray(end))}`;
}

const ELLIPSIS_BYTES = 3;

/** Whether a character of UTF-8 begins before this byte. */
function isWithinCharacter(byte = 0): boolean {
  return (byte & 0b1100_0000) === 0b1000_0000;
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
