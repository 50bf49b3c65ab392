import { expect, test } from 'vitest';
import { type Change, playHeld } from './held.ts';
import { NOTHING, onLeases, spoilt, TO_CLUSTERS, TO_DATABASES, TO_USERS, whileHeld } from './held-deeds.ts';
import * as passages from './passages.ts';
import type { Plan } from './plan.ts';

/* Each call with one deed, in turn. More: npm run sim -- --held. */

const { CREATE_DATABASE, CREATE_USER, DEPLOY, DESTROY, RENAME, ROTATE, ROTATE_USER } = passages;
const TIMEOUT_MS = 300_000;

interface Case {
  readonly what: string;
  readonly passage: passages.Passage;
  readonly changes: readonly Change[];
  readonly plan?: Partial<Plan>;
}

const TWO = { replicas: 2 };
const SHARDS = { replicas: 2, shards: true };

test.each<Case>([
  { what: 'people do', passage: DEPLOY, changes: whileHeld(TO_CLUSTERS) },
  ...[DEPLOY, ROTATE, RENAME, DESTROY, CREATE_USER, CREATE_DATABASE].map((passage) => ({
    what: 'is answered',
    passage,
    changes: spoilt(NOTHING),
  })),
  { what: 'people do, and however it ends', passage: ROTATE, changes: spoilt(TO_CLUSTERS) },
  { what: 'people do, and however it ends', passage: CREATE_USER, changes: spoilt(TO_USERS) },
  { what: 'people do, and however it ends', passage: CREATE_DATABASE, changes: spoilt(TO_DATABASES) },
  { what: 'somebody does to the Lease', passage: DESTROY, changes: onLeases('common', 'sent'), plan: TWO },
  { what: 'somebody does to its Lease', passage: ROTATE_USER, changes: onLeases('own', 'sent'), plan: SHARDS },
  { what: 'somebody does to its Lease', passage: DEPLOY, changes: onLeases('own', 'sent'), plan: SHARDS },
])(
  'Whatever $what, while a call of $passage.name is held nothing is lost or made twice',
  async ({ passage, changes, plan }) => {
    const { wrong, count } = await playHeld(passage, changes, plan, 'in turn');
    expect(count).toBeGreaterThan(3);
    expect(wrong, wrong.join('\n\n')).toEqual([]);
  },
  TIMEOUT_MS,
);
