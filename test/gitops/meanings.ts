import type { ConditionUpdate } from '../../src/kube/condition.ts';
import { failing, ready, reconciling, stalled } from '../../src/kube/summary.ts';
import { documentedWords } from '../support/conditions-document.ts';
import { type FixtureObject, objectWith } from './fixtures.ts';
import type { ArgoHealth, Kstatus } from './situations.ts';

export interface Meaning {
  readonly reason: string;
  readonly message: string;
  readonly argo: ArgoHealth;
  readonly kstatus: Kstatus;
  readonly object: FixtureObject;
}

type Summary = readonly [(reason: string, message: string) => readonly ConditionUpdate[], ArgoHealth, Kstatus];

const WELL: Summary = [ready, 'Healthy', 'Current'];
const UNDER_WAY: Summary = [reconciling, 'Progressing', 'InProgress'];
const FAILING: Summary = [failing, 'Degraded', 'InProgress'];
const STALLED: Summary = [stalled, 'Degraded', 'Failed'];

/** The ways in which the reasons of a chapter of docs/conditions.md are reported. */
const CHAPTERS: Readonly<Record<string, readonly Summary[]>> = {
  'All is well': [WELL],
  'Work goes on': [UNDER_WAY],
  'Waiting for something else': [UNDER_WAY],
  'Tried again': [UNDER_WAY, FAILING],
  'A person must act': [STALLED],
};

const told =
  (status: ConditionUpdate['status']): Summary[0] =>
  (reason, message) => [{ type: 'Ready', status, reason, message }];

/** Reasons that are reported differently from their chapter. */
const EXCEPTIONS: Readonly<Record<string, readonly Summary[]>> = {
  // Everything works as long as the Secret exists.
  SecretDeleting: [WELL],
  // A person's own wish.
  Paused: [[told('Unknown'), 'Progressing', 'InProgress']],
  // Nothing is broken, and nothing will change by itself.
  Drifted: [[told('False'), 'Degraded', 'InProgress']],
  DeletionBlocked: [FAILING],
  // It is a person's wish; what is still to do goes on by itself when the cluster runs. Argo CD would wait, and not heed the commit
  // that resumes the cluster.
  ClusterSuspended: [
    [ready, 'Healthy', 'Current'],
    [reconciling, 'Healthy', 'InProgress'],
  ],
  // Set back, or left: as driftPolicy says.
  RenamedElsewhere: [UNDER_WAY, [told('False'), 'Degraded', 'InProgress']],
};

/** Every documented reason that Ready may have on this kind, in each way in which it is reported. */
export function meanings(kind: string): readonly Meaning[] {
  return documentedWords()
    .filter(({ chapter, on }) => chapter in CHAPTERS && (on.includes('all') || on.includes(kind)))
    .flatMap(({ word, chapter }) =>
      (EXCEPTIONS[word] ?? CHAPTERS[chapter] ?? []).map(([summary, argo, kstatus]) => {
        const message = `Why it is ${word}`;
        return { reason: word, message, argo, kstatus, object: objectWith(kind, summary(word, message)) };
      }),
    );
}
