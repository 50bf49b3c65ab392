import type { Subject } from '../exchange/subject.ts';
import type { Fault } from './faults.ts';
import { hasSentinel, type SentinelName } from './sentinels.ts';

interface SentinelFault {
  readonly sentinel: SentinelName;
  readonly operations: readonly string[];
  /** It strikes only the first request. */
  readonly once: boolean;
  readonly fault: Fault;
}

const CREATES = ['deploy', 'clone'];

const SENTINEL_FAULTS: readonly SentinelFault[] = [
  { sentinel: 'failDeploy', operations: ['deploy'], once: false, fault: { effect: 'errorBefore' } },
  { sentinel: 'failUpdate', operations: ['update'], once: false, fault: { effect: 'errorBefore' } },
  { sentinel: 'failSuspend', operations: ['suspend'], once: false, fault: { effect: 'errorBefore' } },
  { sentinel: 'failResume', operations: ['resume'], once: false, fault: { effect: 'errorBefore' } },
  { sentinel: 'failClone', operations: ['clone'], once: false, fault: { effect: 'errorBefore' } },
  { sentinel: 'failDestroy', operations: ['destroy'], once: false, fault: { effect: 'errorBefore' } },
  { sentinel: 'lostAnswer', operations: CREATES, once: true, fault: { effect: 'lostAnswer' } },
  { sentinel: 'throttled', operations: CREATES, once: true, fault: { effect: '429' } },
  { sentinel: 'html', operations: CREATES, once: true, fault: { effect: 'html' } },
];

/** The faults that the cluster's id asks for. `struck` remembers those that strike once. */
export function sentinelFaults(subject: Subject, struck: Set<string>): readonly Fault[] {
  const ids = [subject.newClusterID, subject.clusterID].filter((id) => id !== undefined);
  return SENTINEL_FAULTS.flatMap(({ sentinel, operations, once, fault }) => {
    if (subject.api !== 'cloud' || !operations.includes(subject.operation)) return [];
    const id = ids.find((candidate) => hasSentinel(candidate, sentinel));
    if (id === undefined) return [];
    const key = `${sentinel} ${id}`;
    if (once && struck.has(key)) return [];
    struck.add(key);
    return [fault];
  });
}
