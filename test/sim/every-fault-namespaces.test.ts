import { describeEveryFault } from './every-fault.ts';
import type { Fault } from './faults.ts';
import { COPIES } from './scenarios/copies.ts';
import { NAMESPACES_APART } from './scenarios/namespaces.ts';

/** Faults that decide who hears of what in another namespace, and what people do in one of them. Seeds cover the rest. */
const BETWEEN_NAMESPACES: ReadonlySet<Fault> = new Set<Fault>([
  'crashAfter',
  'lateLanding',
  'conflict',
  'stale',
  'oldList',
  'wrongToken',
  'recreate',
  'deleteAround',
  'terminate',
]);

describeEveryFault([...NAMESPACES_APART, ...COPIES], { faults: BETWEEN_NAMESPACES });
