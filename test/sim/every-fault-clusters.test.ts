import { describeEveryFault } from './every-fault.ts';
import type { Fault } from './faults.ts';
import { REFUSALS } from './scenarios/refusals.ts';
import { SEVERAL_SERVERS } from './scenarios/several-servers.ts';

/** Faults of the cloud, its servers and what is known of them. Faults of watches and clocks are alike in all scenarios. */
const OF_CLUSTERS: ReadonlySet<Fault> = new Set<Fault>([
  'crashBefore',
  'crashAfter',
  'crashTwice',
  'upgrade',
  'lostAnswer',
  'lateLanding',
  'serverError',
  'conflict',
  'flaky',
  'cloudOutage',
  'serverOutage',
  'primaryMoves',
  'serverLeaves',
  'edit',
  'pause',
  'wrongToken',
  'delete',
  'recreate',
  'loseSecret',
]);

describeEveryFault([...REFUSALS, ...SEVERAL_SERVERS], { faults: OF_CLUSTERS, inTurn: true });
