import type { Mutation } from './mutate.ts';

const ACTING = 'operator/acting.ts';
const MEMBERSHIP = 'operator/replicas/membership.ts';

/** Deliberate mistakes with the Lease, or with how replicas share spaces. */
export const OF_REPLICAS: readonly Mutation[] = [
  {
    name: 'ignore-fence',
    about: 'Work that began under the Lease goes on after the Lease is lost',
    changes: [
      [
        ACTING,
        "fence: () => (elector.isLeader() ? undefined : 'another process may lead by now'),",
        'fence: () => undefined,',
      ],
    ],
    hunt: ['deploy replicas=2 1:freeze', 'deploy replicas=2'],
  },
  {
    name: 'ignore-lease',
    about: 'Each process works, whoever holds the Lease',
    changes: [[ACTING, 'if (lease === undefined) return ALONE;', 'if (lease?.shardBySpace !== true) return ALONE;']],
    hunt: ['deploy replicas=2'],
  },
  {
    name: 'own-without-a-look',
    about: 'A replica takes a space without checking who else has it',
    changes: [
      [
        MEMBERSHIP,
        'standing.others.every((other) => this.#owners.of(shard, other.view) !== other.identity)',
        'standing.others.every((other) => this.#owners.of(shard, other.view) !== identity || true)',
      ],
    ],
    hunt: ['two-spaces replicas=2 shards'],
  },
  {
    name: 'give-before-it-ends',
    about: 'A replica says that it has released a space while a pass is running there',
    changes: [
      [
        MEMBERSHIP,
        'return held.length === 0 ? null : held.map(encodeURIComponent).join();',
        "return held.length === 0 ? null : '';",
      ],
    ],
    hunt: Array.from({ length: 30 }, (_, index) => `two-spaces-busy replicas=2 shards ${index + 1}:crashAfter`),
  },
  {
    name: 'outlive-the-lease',
    about: 'A replica that shares spaces goes on after its Lease has expired',
    changes: [
      [
        MEMBERSHIP,
        'return this.#remainingMs() > 0 && !this.#lost;',
        'return this.#standing !== undefined && !this.#lost;',
      ],
    ],
    hunt: ['two-spaces replicas=2 shards 1:freeze', 'two-spaces replicas=2 shards'],
  },
  {
    name: 'inherit-at-once',
    about: 'A replica counts as dead as soon as one look at its Lease finds no renewal',
    changes: [
      [
        'operator/replicas/others.ts',
        'const isOver = now - other.since >= other.durationMs;',
        'const isOver = now - other.since >= other.durationMs / 15;',
      ],
    ],
    hunt: ['two-spaces replicas=2 shards 1:partition', 'two-spaces replicas=2 shards'],
  },
  {
    name: 'trust-the-monotonic-clock',
    about: 'The time for which a machine was suspended does not count for the Lease',
    changes: [
      [
        'base/stopwatch.ts',
        'Math.max(now.monotonic - at.monotonic, now.wall - at.wall)',
        'Math.min(now.monotonic - at.monotonic, Math.abs(now.wall - at.wall))',
      ],
    ],
    hunt: ['deploy replicas=2 1:suspendMachine', 'deploy replicas=2'],
  },
];
