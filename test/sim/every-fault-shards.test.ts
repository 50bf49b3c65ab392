import { describeEveryFault } from './every-fault.ts';
import { FOR_REPLICAS } from './faults.ts';
import { scenarioNamed } from './scenarios.ts';

// Two processes share the spaces. With three of them, and in all other scenarios, the seeds do.
describeEveryFault(['two-spaces', 'space-named-twice'].map(scenarioNamed), { replicas: 2, shards: true });
describeEveryFault(['two-spaces-rotate', 'two-spaces-busy'].map(scenarioNamed), {
  replicas: 2,
  shards: true,
  faults: FOR_REPLICAS,
});
