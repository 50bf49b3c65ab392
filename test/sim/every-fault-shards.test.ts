import { describeEveryFault } from './every-fault.ts';
import { FOR_REPLICAS, OF_SHARDS } from './faults.ts';
import { scenarioNamed } from './scenarios.ts';

// Two processes share the spaces. For all other scenarios: npm run sim -- --every --shards. Seeds play three processes, and all faults.
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
// When the space goes, an object that is still being worked on changes its owner.
describeEveryFault(['race-for-username', 'two-users-at-once'].map(scenarioNamed), {
  replicas: 2,
  shards: true,
  faults: ['terminate'],
});
