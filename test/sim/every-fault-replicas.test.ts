import { describeEveryFault } from './every-fault.ts';
import { FOR_REPLICAS } from './faults.ts';
import { scenarioNamed } from './scenarios.ts';

/** Scenarios where a process leaves most half done. For the others: npm run sim -- --every --replicas 2. */
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

// A mistake of a single process is found in other tests: these faults matter only with two.
describeEveryFault(CHOSEN.map(scenarioNamed), { replicas: 2, faults: FOR_REPLICAS, inTurn: true });
