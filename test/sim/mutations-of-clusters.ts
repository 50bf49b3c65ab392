import type { Mutation } from './mutate.ts';

const ENDPOINT = 'kinds/databasecluster/endpoint.ts';
const LOGIN = 'kinds/databasecluster/login/decide-login.ts';

/** Mistakes with changes that the cloud refuses for ever, and with clusters of several servers. */
export const OF_CLUSTERS: readonly Mutation[] = [
  {
    name: 'first-secret-forgotten',
    about: 'Which Secret has the first login is written down only after the login was verified',
    changes: [
      [
        'kinds/databasecluster/existence/act-existence.ts',
        'unverifiedSecretName: adminSecretName(subject)',
        'backup: acceptedBackup(subject)',
      ],
      [
        'kinds/databasecluster/login/act-login.ts',
        'return isFound ? undefined : { unverifiedSecretName: to };',
        'return undefined;',
      ],
    ],
    hunt: ['move-first-secret 9:crashAfter', 'move-first-secret'],
  },
  {
    name: 'renamed-is-free',
    about: 'A cluster under an id that nobody has is taken over, though an object knows it under another id',
    changes: [
      ['kinds/databasecluster/existence/claimants.ts', '[...having, ...knowingOtherwise(work, cluster)]', 'having'],
    ],
    hunt: ['renamed-to-awaited'],
  },
  {
    name: 'refusal-holds-up-server',
    about: 'A server that is not up is looked at as seldom as a change that the cloud refuses is retried',
    changes: [['runtime/reconcile.ts', "soon: decision.retry === 'soon' }", 'soon: false }']],
    hunt: ['refused-change-server-late'],
  },
  {
    name: 'refusal-holds-up-login',
    about: 'The login is left as it is while the cloud refuses a change',
    changes: [[LOGIN, 'if (!isHeldUp(subject)) {', 'if (change.steps.length === 0) {']],
    hunt: ['refused-change'],
  },
  {
    name: 'first-of-list',
    about: 'Of several servers the first in the List is used, whichever was used before',
    changes: [[ENDPOINT, 'before !== undefined && connection.serverURL(each) === before', 'each === running[0]']],
    hunt: ['servers-in-any-order'],
  },
  {
    name: 'deaf-to-primary',
    about: 'When a server names the primary that takes changes instead, that is ignored',
    changes: [[ENDPOINT, 'each === primary', 'each === primary && running.length === 1']],
    hunt: ['primary-moves'],
  },
  {
    name: 'servers-as-listed',
    about: 'The status shows the servers in the order of the List',
    changes: [
      ['kinds/databasecluster/present.ts', '.toSorted((one, other) => (one.address < other.address ? -1 : 1))', ''],
    ],
    hunt: ['servers-in-any-order'],
  },
];
