import { describeEveryFault } from './every-fault.ts';
import { FOR_REPLICAS } from './faults.ts';
import { scenarioNamed } from './scenarios.ts';

/** Where a process leaves most half done. Of the others: npm run sim -- --every --replicas 2. */
const CHOSEN = [
  'deploy',
  'change',
  'suspend-resume',
  'rotate',
  'password-lost',
  'destroy',
  'destroy-at-once',
  'destroy-while-deploying',
  'namespace-deleted',
  'namespace-deleted-while-deploying',
  'race-for-id',
  'two-for-one-id',
  'user',
  'user-rotate',
  'database-with-schema',
];

// What one process does wrong on its own, it does wrong with another beside it: here is what only two can do.
describeEveryFault(CHOSEN.map(scenarioNamed), { replicas: 2, faults: FOR_REPLICAS });
