import type { Clock } from '../base/clock.ts';
import { GROUP } from '../base/group.ts';
import { type Random, uuid } from '../base/random.ts';
import { EVENTS, isNamespaceTerminating, type KubeApi } from '../kube/api.ts';
import type { ConditionUpdate } from '../kube/condition.ts';
import type { KubeObject } from '../kube/object.ts';

/** Tells people of changes of state, as `kubectl describe` and `kubectl events` show them. */
export interface EventRecorder {
  /** Ready has become this, or something else is to be told of. Returns at once; an event that cannot be written is only logged. */
  record(object: KubeObject, ready: Pick<ConditionUpdate, 'status' | 'reason' | 'message'>): void;
}

const MAX_NOTE_LENGTH = 1024;

/** Events as the events.k8s.io API takes them. */
export function createEventRecorder(options: {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly instance: string;
  readonly onFailure: (error: unknown) => void;
}): EventRecorder {
  return {
    record(object, ready) {
      const { namespace = 'default', name, uid, resourceVersion } = object.metadata;
      const event = {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { namespace, name: `${name}.${uuid(options.random).slice(0, 13)}` },
        eventTime: new Date(options.clock.now()).toISOString().replace('Z', '000Z'),
        reportingController: `${GROUP}/mooring`,
        reportingInstance: options.instance,
        action: 'Reconcile',
        reason: ready.reason,
        type: ready.status === 'False' ? 'Warning' : 'Normal',
        note: ready.message.slice(0, MAX_NOTE_LENGTH),
        regarding: { apiVersion: object.apiVersion, kind: object.kind, namespace, name, uid, resourceVersion },
      };
      options.api.create(EVENTS, namespace, event).catch((error: unknown) => {
        if (!isNamespaceTerminating(error)) options.onFailure(error);
      });
    },
  };
}
