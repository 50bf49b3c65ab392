import type { Mutation } from './mutate.ts';

const RECONCILE = 'runtime/reconcile.ts';
const QUEUE = 'runtime/workqueue.ts';
const EXISTENCE = 'kinds/databasecluster/decide-existence.ts';

/** Mistakes that each break one promise, to whom the queue serves, to other controllers, to the cloud, or to people. */
export const OF_PROMISES: readonly Mutation[] = [
  {
    name: 'two-workers-a-key',
    about: 'A key that is in hand is handed to another worker',
    changes: [[QUEUE, 'if (!this.#processing.has(key)) this.#enter(key);', 'this.#enter(key);']],
    hunt: ['change'],
  },
  {
    name: 'forget-dirty',
    about: 'What changes while a key is in hand is not looked at after it',
    changes: [[QUEUE, 'if (this.#dirty.has(key)) this.#enter(key);', 'this.#dirty.delete(key);']],
    hunt: ['change-of-mind'],
  },
  {
    name: 'only-our-finalizer',
    about: 'Holding an object takes the finalizers of others away',
    changes: [[RECONCILE, 'stands ? [...others, own] : others }', 'stands ? [own] : others }']],
    hunt: ['deploy'],
  },
  {
    name: 'finalizers-of-others-go',
    about: 'Letting go of an object takes the finalizers of others away',
    changes: [[RECONCILE, 'stands ? [...others, own] : others }', 'stands ? [...others, own] : [] }']],
    hunt: ['destroy-while-deploying'],
  },
  {
    name: 'conditions-of-others-go',
    about: 'Conditions of other controllers go with the next write of a status',
    changes: [
      ['kube/condition.ts', 'return [...own, ...previous.filter((condition) => !isOwn(condition))];', 'return own;'],
    ],
    hunt: ['deploy'],
  },
  {
    name: 'event-each-write',
    about: 'Each write of a status makes an Event',
    changes: [
      [
        'runtime/controller.ts',
        'if (before?.status === after.status && before.reason === after.reason) return;',
        'if (before?.status === after.status && before.message === after.message) return;',
      ],
    ],
    hunt: ['deploy'],
  },
  {
    name: 'list-for-each-object',
    about: 'Each DatabaseSpace lists its place by itself, also where another one names the same',
    changes: [
      [
        'kinds/databasespace/connection.ts',
        'digestOfSettings({ baseURL, teamID, spaceID, ca, credentials });',
        'digestOfSettings({ baseURL, teamID, spaceID, ca, credentials, space });',
      ],
    ],
    hunt: ['space-named-twice'],
  },
  {
    name: 'gateway-did-nothing',
    about: 'A 5xx counts as a call that had no effect',
    changes: [
      [
        'base/api-error.ts',
        "return kind === 'unavailable' && status !== undefined && status !== 421;",
        "return kind === 'unavailable' && status === 0;",
      ],
    ],
    hunt: ['deploy'],
  },
  {
    name: 'never-verify',
    about: 'A login that was verified once is never tried again',
    changes: [
      ['kinds/verification.ts', 'if (intervalMs <= 0) return undefined;', 'if (intervalMs <= 0 || lastMs > 0) return;'],
    ],
    hunt: ['password-changed-elsewhere'],
  },
  {
    name: 'recreate-unasked',
    about: 'A cluster that vanished is replaced by an empty one, whatever recreatePolicy says',
    changes: [[EXISTENCE, "(spec.recreatePolicy === 'Never' || seen", "(spec.recreatePolicy === 'Ask' || seen"]],
    hunt: ['vanished'],
  },
  {
    name: 'any-cluster-since',
    about: 'A cluster that others made at the same time, and otherwise, is taken for the one that was asked for',
    changes: [[EXISTENCE, 'return fixed.every(([asked, found]) =>', 'return fixed.some(([asked, found]) =>']],
    hunt: ['race-for-id'],
  },
  {
    name: 'dead-token-stays',
    about: 'After a 401 the same access token is sent again',
    changes: [['cloud/client.ts', '      holder.tokens.drop(token);\n', '']],
    hunt: ['deploy'],
  },
];
