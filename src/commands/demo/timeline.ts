import * as z from 'zod';
import { databaseClusterDefinition } from '../../kinds/databasecluster/schema.ts';
import { isPaused } from '../../kube/annotations.ts';
import { findStatusCondition, isStatusConditionTrue } from '../../kube/condition.ts';
import { parseStatus } from '../../kube/definition.ts';
import type { KubeObject } from '../../kube/object.ts';

/** What a person is shown of an object at one moment. */
export interface Glimpse {
  /** `DatabaseCluster orders`. */
  readonly subject: string;
  /** `Ready`, or the reason why it is not; or what was done to it, if that changes nothing of it. */
  readonly word: string;
  readonly meaning: 'good' | 'bad' | 'busy';
  /** The cloud's word for a cluster's state; '' if there is none. */
  readonly state: string;
  readonly message: string;
  /** A person must act. */
  readonly stalled: boolean;
}

/** The word before the operator has said anything. */
export const APPLIED = 'Applied';

/** What a user's status says about its Secret, in other fields than a cluster's. */
const bindingSchema = z.object({ binding: z.object({ name: z.string() }) });

/** What can be seen of an object besides its condition Ready. */
interface Aside {
  readonly paused: boolean;
  /** When its password was replaced; '' if it never was. */
  readonly rotated: string;
  /** The Secret with the password. */
  readonly secretName: string;
}

function asideOf({ metadata, status }: KubeObject): Aside {
  const { lastRotation = '', credentials } = parseStatus(databaseClusterDefinition, status);
  const binding = bindingSchema.safeParse(status).data?.binding.name;
  return {
    paused: isPaused(metadata),
    rotated: lastRotation,
    secretName: binding ?? credentials?.secretName ?? '',
  };
}

/** Spaces and clusters have the same conditions; a space has no state. */
function glimpseOf(object: KubeObject): Glimpse {
  const subject = `${object.kind} ${object.metadata.name}`;
  const { conditions = [], state = '' } = parseStatus(databaseClusterDefinition, object.status);
  const ready = findStatusCondition(conditions, 'Ready');
  const stalled = isStatusConditionTrue(conditions, 'Stalled');
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
  readonly #last = new Map<string, { readonly glimpse: Glimpse; readonly aside: Aside }>();

  /** Returns what is new about the object: mostly nothing. */
  see(object: KubeObject): readonly Glimpse[] {
    const [glimpse, aside] = [glimpseOf(object), asideOf(object)];
    const before = this.#last.get(glimpse.subject);
    this.#last.set(glimpse.subject, { glimpse, aside });
    const same = before?.glimpse.word === glimpse.word && before.glimpse.state === glimpse.state;
    const asides = before === undefined ? [] : news(before.aside, aside);
    return [
      ...asides.map(([word, message]) => ({ ...glimpse, word, message, meaning: 'busy' as const, state: '' })),
      ...(same ? [] : [glimpse]),
    ];
  }

  /** Returns whether it was there. */
  forget(object: Pick<KubeObject, 'kind' | 'metadata'>): boolean {
    return this.#last.delete(`${object.kind} ${object.metadata.name}`);
  }

  all(): readonly Glimpse[] {
    return [...this.#last.values()].map(({ glimpse }) => glimpse);
  }
}

/** Returns what was done to an object that may have been Ready all the time, and what that means. */
function news(before: Aside, { paused, rotated, secretName }: Aside): readonly (readonly [string, string])[] {
  const found: (readonly [string, string])[] = [];
  if (!before.paused && paused) found.push(['Pausing', 'Mooring only looks and reports, and changes nothing']);
  if (before.paused && !paused) found.push(['Unpaused', 'Mooring makes changes again']);
  if (before.rotated !== '' && before.rotated !== rotated)
    found.push(['Rotated', `The new password is in Secret "${secretName}", and works`]);
  return found;
}
