import { describe, expect, it, test } from 'vitest';
import { type Story, storyOf } from './story.ts';
import { playStory, shrunkStory, smallestReport } from './story-run.ts';

/** How many stories are told each time. */
const TOLD = 300;
const AT_A_TIME = 100;
const TIMEOUT_MS = 600_000;
const MOVED = { adminCredentials: { secretName: 'billing-admin' } };

describe('Whatever people do, and in whatever order, no invariant breaks, and all goes in the end', () => {
  const begins = Array.from({ length: TOLD / AT_A_TIME }, (_, index) => 1 + index * AT_A_TIME);
  it.each(begins.map((begin) => [begin, begin + AT_A_TIME - 1] as const))(
    'Stories %i to %i',
    async (begin, end) => {
      for (let seed = begin; seed <= end; seed++) {
        const { problem } = await playStory(storyOf(seed));
        if (problem !== undefined) expect.fail(await smallestReport(seed, problem));
      }
    },
    TIMEOUT_MS,
  );
});

test('Stories have everything that people do, and all kinds of objects', () => {
  const steps = Array.from({ length: TOLD }, (_, index) => storyOf(index + 1)).flatMap((story) => story.steps);
  expect(new Set(steps.map((step) => step.do)).size).toBe(28);
  expect(new Set(steps.flatMap((step) => ('of' in step ? [step.of] : []))).size).toBe(5);
});

test('A login is found in the Secret that it moves to, though somebody has just taken the labels of that Secret', async () => {
  const steps = [
    { afterMs: 0, do: 'create', of: 'databaseclusters', name: 'orders', spec: {} },
    { afterMs: 43_000, do: 'edit', of: 'databaseclusters', name: 'orders', spec: MOVED },
    { afterMs: 1_934, do: 'scribble', name: 'billing-admin', patch: { metadata: { labels: null } } },
  ];
  expect(await playStory({ seed: 91_950, steps } as Story)).toMatchObject({ problem: undefined });
});

test('A database that somebody drops and creates again is still the one that its object stands for', async () => {
  const steps = [
    { afterMs: 0, do: 'create', of: 'databaseclusters', name: 'orders', spec: {} },
    { afterMs: 0, do: 'create', of: 'databases', name: 'sales', spec: { clusterRef: { name: 'orders' } } },
    { afterMs: 45_000, do: 'dropDatabase', id: 'orders', target: 'sales' },
    { afterMs: 10_000, do: 'createDatabase', id: 'orders', target: 'sales' },
  ];
  expect(await playStory({ seed: 90_968, steps } as Story)).toMatchObject({ problem: undefined });
});

test('A cluster that somebody renames is not taken over by an object that waits for one of that id', async () => {
  const waiting = { clusterID: 'orders-x', adoptionPolicy: 'MustExist' };
  const steps = [
    { afterMs: 0, do: 'create', of: 'databaseclusters', name: 'billing', spec: waiting },
    { afterMs: 0, do: 'create', of: 'databaseclusters', name: 'orders', spec: {} },
    { afterMs: 60_000, do: 'rename', id: 'orders' },
  ];
  expect(await playStory({ seed: 91_665, steps } as Story)).toMatchObject({ problem: undefined });
});

test('Of two objects that want one id at the same moment the second may get it, and give it back for another id', async () => {
  const inShop = { spaceRef: { name: 'production', namespace: 'shop' } };
  const steps = [
    { afterMs: 1_325, do: 'create', of: 'databaseclusters', name: 'orders', spec: {} },
    { afterMs: 19, do: 'create', of: 'databaseclusters', name: 'tenant/orders', spec: inShop },
    { afterMs: 3, do: 'create', of: 'databaseusers', name: 'app', spec: {} },
    { afterMs: 10, do: 'create', of: 'databases', name: 'sales', spec: {} },
    { afterMs: 712_518, do: 'edit', of: 'databaseclusters', name: 'tenant/orders', spec: { clusterID: 'billing' } },
  ];
  expect(await playStory({ seed: 300_555, steps } as Story)).toMatchObject({ problem: undefined });
});

test('A look that goes on while its DatabaseSpace is deleted takes over no cluster that another object has', async () => {
  const wanting = { clusterID: 'orders', adoptionPolicy: 'MustExist' };
  const look = { annotations: { 'mooring.dev/reconcile-at': '3' } };
  const steps = [
    { afterMs: 0, do: 'create', of: 'databasespaces', name: 'alias', spec: {} },
    { afterMs: 3_000, do: 'create', of: 'databaseclusters', name: 'orders', spec: {} },
    { afterMs: 0, do: 'create', of: 'databaseclusters', name: 'billing', spec: wanting },
    { afterMs: 180_000, do: 'annotate', of: 'databaseclusters', name: 'billing', ...look },
    { afterMs: 6, do: 'delete', of: 'databasespaces', name: 'production' },
  ];
  expect(await playStory({ seed: 207_861, steps } as Story)).toMatchObject({ problem: undefined });
});

test('A Secret may have a password that its server accepted while it was already being destroyed', async () => {
  const rotate = { annotations: { 'mooring.dev/rotate-at': '3' } };
  const steps = [
    { afterMs: 0, do: 'create', of: 'databaseclusters', name: 'orders', spec: {} },
    { afterMs: 45_000, do: 'destroy', id: 'orders' },
    { afterMs: 1_600, do: 'annotate', of: 'databaseclusters', name: 'orders', ...rotate },
    { afterMs: 39_000, do: 'recreate', of: 'databaseclusters', name: 'orders' },
  ];
  expect(await playStory({ seed: 93_683, steps } as Story)).toMatchObject({ problem: undefined });
});

test('Without a watch of Secrets, nothing tells that the Secret of a user on a suspended cluster is gone', async () => {
  const steps = [
    { afterMs: 0, do: 'create', of: 'databaseclusters', name: 'orders', spec: {} },
    { afterMs: 0, do: 'create', of: 'databaseusers', name: 'app', spec: { clusterRef: { name: 'orders' } } },
    { afterMs: 45_000, do: 'edit', of: 'databaseclusters', name: 'orders', spec: { state: 'Suspended' } },
    { afterMs: 600_000, do: 'delete', of: 'secrets', name: 'app-connection' },
  ];
  expect(await playStory({ seed: 94_310, secrets: 'get', steps } as Story)).toMatchObject({ problem: undefined });
});

test('A story that goes wrong is made as small as it can be', async () => {
  // Whose login a clone comes with that names its source by its id, only a person can say.
  const source = {
    afterMs: 0,
    do: 'create',
    of: 'databaseclusters',
    name: 'orders',
    spec: { deletionPolicy: 'Delete' },
  };
  const clone = { ...source, afterMs: 60_000, name: 'billing', spec: { cloneFrom: { clusterID: 'orders' } } };
  const end = { afterMs: 60_000, do: 'delete', of: 'databaseclusters', name: 'orders' };
  const needless = [
    { afterMs: 0, do: 'create', of: 'databases', name: 'sales', spec: { clusterRef: { name: 'orders' } } },
    { afterMs: 1_000, do: 'resize', id: 'orders' },
  ];
  const withMore = { ...source, spec: { ...source.spec, storageSizeGB: 200 } };
  const story = { steps: [withMore, ...needless, clone, end] } as Story;
  const { problem = '' } = await playStory(story);
  expect(problem).toContain('a password is known');
  expect(await shrunkStory(story, problem)).toEqual({ steps: [source, clone, end] });
});
