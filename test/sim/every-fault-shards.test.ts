import { describeEveryFault } from './every-fault.ts';
import { FOR_REPLICAS, OF_SHARDS } from './faults.ts';
import { scenarioNamed } from './scenarios.ts';

// Two processes share the spaces. In all other scenarios: npm run sim -- --every --shards. With three of them, and with all faults, the seeds do.
describeEveryFault(['two-spaces', 'space-named-twice'].map(scenarioNamed), {
  replicas: 2,
  shards: true,
  faults: OF_SHARDS,
  inTurn: true,
});
describeEveryFault(['two-spaces-rotate', 'two-spaces-busy'].map(scenarioNamed), {
  replicas: 2,
  shards: true,
  faults: FOR_REPLICAS,
  inTurn: true,
});
// Whose an object is that is still in hand changes where its space goes.
describeEveryFault(['race-for-username', 'two-users-at-once'].map(scenarioNamed), {
  replicas: 2,
  shards: true,
  faults: ['terminate'],
});
