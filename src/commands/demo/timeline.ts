import { databaseClusterDefinition } from '../../kinds/databasecluster/schema.ts';
import { parseStatus } from '../../kube/definition.ts';
import type { KubeObject } from '../../kube/object.ts';

/** What a person is shown of an object at one moment. */
export interface Glimpse {
  /** `DatabaseCluster orders`. */
  readonly subject: string;
  /** `Ready`, or the reason why it is not. */
  readonly word: string;
  readonly meaning: 'good' | 'bad' | 'busy';
  /** The cloud's word for a cluster's state; '' where there is none. */
  readonly state: string;
  readonly message: string;
  /** A person must act. */
  readonly stalled: boolean;
}

/** The word before the operator has said anything. */
export const APPLIED = 'Applied';

/** Spaces and clusters have the same conditions; a space has no state. */
export function glimpseOf(object: KubeObject): Glimpse {
  const subject = `${object.kind} ${object.metadata.name}`;
  const { conditions = [], state = '' } = parseStatus(databaseClusterDefinition, object.status);
  const ready = conditions.find(({ type }) => type === 'Ready');
  const stalled = conditions.some(({ type, status }) => type === 'Stalled' && status === 'True');
  if (object.metadata.deletionTimestamp !== undefined && ready?.status === 'True') {
    return { subject, word: 'Deleting', meaning: 'busy', state, message: '', stalled };
  }
  if (ready === undefined) {
    return { subject, word: APPLIED, meaning: 'busy', state, message: 'The operator has not seen it yet', stalled };
  }
  const { status, reason, message } = ready;
  const meaning = status === 'True' ? 'good' : status === 'False' ? 'bad' : 'busy';
  return { subject, word: status === 'True' ? 'Ready' : reason, meaning, state, message, stalled };
}

/** Remembers what was shown of each object, so that each change is shown once. */
export class Timeline {
  readonly #last = new Map<string, Glimpse>();

  /** What is new of the object; undefined: nothing. */
  see(object: KubeObject): Glimpse | undefined {
    const glimpse = glimpseOf(object);
    const before = this.#last.get(glimpse.subject);
    this.#last.set(glimpse.subject, glimpse);
    const same = before?.word === glimpse.word && before.state === glimpse.state;
    return same ? undefined : glimpse;
  }

  /** Returns whether it was there. */
  forget(object: Pick<KubeObject, 'kind' | 'metadata'>): boolean {
    return this.#last.delete(`${object.kind} ${object.metadata.name}`);
  }

  all(): readonly Glimpse[] {
    return [...this.#last.values()];
  }
}
