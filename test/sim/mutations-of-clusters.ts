import type { Mutation } from './mutate.ts';

const LOGIN = 'kinds/databasecluster/decide-login.ts';

/** Mistakes with what the cloud refuses for ever, and with clusters of several servers. */
export const OF_CLUSTERS: readonly Mutation[] = [
  {
    name: 'refusal-holds-up-server',
    about: 'A server that is not up is looked at as slowly as a change is asked for that the cloud refuses',
    changes: [['runtime/reconcile.ts', "found !== undefined && decision.retry !== 'soon'", 'found !== undefined']],
    hunt: ['refused-change-server-late'],
  },
  {
    name: 'refusal-holds-up-login',
    about: 'The login is left as it is while the cloud refuses a change',
    changes: [[LOGIN, 'if (hasSteps && !isHeldUp(subject)) {', 'if (!hasSteps) {']],
    hunt: ['refused-change'],
  },
];
