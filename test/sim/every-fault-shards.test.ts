import { describeEveryFault } from './every-fault.ts';
import { type Fault, FOR_REPLICAS } from './faults.ts';
import { scenarioNamed } from './scenarios.ts';

/** What befalls processes, what they see of one another, and who has what. What befalls the cloud is alike whoever acts. */
const OF_SHARDS: ReadonlySet<Fault> = new Set<Fault>([
  ...FOR_REPLICAS,
  'crashBefore',
  'crashAfter',
  'crashTwice',
  'upgrade',
  'conflict',
  'flaky',
  'stale',
  'duplicate',
  'gap',
  'oldList',
  'restart',
  'apiOutage',
  'clockForward',
  'edit',
  'delete',
  'recreate',
  'deleteAround',
  'terminate',
]);

// Two processes share the spaces. With three of them, in all other scenarios, and with all faults, the seeds do.
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
