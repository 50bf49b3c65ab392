import { expect, test } from 'vitest';
import { type Change, playHeld } from './held.ts';
import {
  ADOPT,
  annotate,
  CREATE_DATABASE,
  CREATE_USER,
  DELETE_DATABASE,
  DELETE_USER,
  DEPLOY,
  DESTROY,
  DESTROY_WITH_SPACE,
  type Deed,
  MOVE_SECRET,
  type Passage,
  RENAME,
  ROTATE,
  ROTATE_USER,
  rival,
} from './passages.ts';
import type { Plan } from './plan.ts';

const TIMEOUT_MS = 300_000;
/** The next process looks, decides and acts meanwhile. */
const LATE_MS = 10_000;
/** Longer than a process that was told to end waits for its work, and than a Lease lasts. */
const VERY_LATE_MS = 25_000;
const CUT_OFF_MS = 60_000;

const KILLED: Change = {
  name: 'the process was killed',
  when: 'sent',
  befalls: (world, process) => world.processes.kill(process),
  heldMs: LATE_MS,
};
const TOLD_TO_END: Change = {
  name: 'the process was told to end',
  when: 'sent',
  befalls: (_, process) => process.stop.abort(),
  heldMs: VERY_LATE_MS,
};
const FROZEN = (['sent', 'answered'] as const).map(
  (when): Change => ({
    name: 'the process stood still',
    when,
    befalls: (world, process) => world.processes.freeze(process, 'freeze'),
  }),
);
const CUT_OFF: Change = {
  name: 'the process was cut off from the API server',
  when: 'answered',
  befalls: (world, process) => {
    process.partitionedUntil = world.clock.monotonic() + CUT_OFF_MS;
  },
  heldMs: VERY_LATE_MS,
};
const OF_SEVERAL = [TOLD_TO_END, ...FROZEN, CUT_OFF];
const JOINED: Change = { name: 'another replica came', when: 'answered', befalls: (world) => world.processes.start() };
const ROTATED_AGAIN: Change = { ...KILLED, deed: [annotate('databaseusers', 'app', 'rotate-at', '2')] };

const twoHeld = (name: string, ...deed: Deed): readonly Change[] =>
  (['longer', 'shorter'] as const).map((alsoHeld) => ({ name, when: 'answered', deed, alsoHeld }));
const CLUSTER_ROTATES = twoHeld('its cluster rotates', annotate('databaseclusters', 'orders', 'rotate-at'));
const WANTED_TWICE = twoHeld('another object wants it', rival('alias'));

interface Case {
  readonly who: string;
  readonly passage: Passage;
  readonly changes: readonly Change[];
  readonly plan?: Partial<Plan>;
}

/** What a process has sent before it was killed arrives after the next one has begun. */
const late = (passage: Passage): Case => ({ who: 'a process that is killed', passage, changes: [KILLED] });
const ofTwo = (passage: Passage): Case => ({
  who: 'one of two processes',
  passage,
  changes: OF_SEVERAL,
  plan: { replicas: 2 },
});
const ofShards = (passage: Passage): Case => ({
  who: 'one of two replicas',
  passage,
  changes: [...OF_SEVERAL, JOINED],
  plan: { replicas: 2, shards: true },
});

test.each<Case>([
  ...[DEPLOY, ROTATE, MOVE_SECRET, RENAME, DESTROY, DESTROY_WITH_SPACE, ADOPT].map(late),
  ...[CREATE_USER, ROTATE_USER, DELETE_USER, CREATE_DATABASE, DELETE_DATABASE].map(late),
  ...[ROTATE, DESTROY].map(ofTwo),
  ...[ROTATE_USER, CREATE_DATABASE].map(ofShards),
  { who: 'a process, with another request,', passage: ROTATE_USER, changes: [ROTATED_AGAIN] },
  { who: 'a process, and another of its calls', passage: ROTATE_USER, changes: CLUSTER_ROTATES },
  { who: 'a process, and another of its calls', passage: ADOPT, changes: WANTED_TWICE },
])(
  'Whatever befalls $who while a call of $passage.name is held, nothing is lost or made twice',
  async ({ passage, changes, plan }) => {
    const { wrong, count } = await playHeld(passage, changes, plan);
    expect(count).toBeGreaterThanOrEqual(changes.length);
    expect(wrong, wrong.join('\n\n')).toEqual([]);
  },
  TIMEOUT_MS,
);
