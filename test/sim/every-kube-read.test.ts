import { describeEveryRead } from './every-fault.ts';
import { READ_FAULTS_OF, type Read, type ReadFault } from './reads.ts';
import { NAMESPACES_APART } from './scenarios/namespaces.ts';
import { SCENARIOS } from './scenarios.ts';

/** Plans in which a process begins, and lists everything, or may read Secrets by name only. */
const STRUCK_BY_ALL = ['deploy 4:crashAfter', 'database-with-schema 4:crashAfter', 'user secrets=get'];
/** Scenarios that repeat the same looks, or look, with one exception, only at what others look at, too. */
const REPETITIVE: readonly string[] = [
  'two-spaces-rotate',
  'two-spaces-busy',
  ...NAMESPACES_APART.map(({ name }) => name),
];

/** The operator handles all faults alike, except for how long it waits: they take turns, one at each look. */
function inTurn({ to, index }: Read): readonly ReadFault[] {
  const fault = READ_FAULTS_OF.kube[index % READ_FAULTS_OF.kube.length];
  return to === 'http' || fault === undefined ? [] : [fault];
}

describeEveryRead(STRUCK_BY_ALL, ({ to }) => (to === 'kube' ? READ_FAULTS_OF.kube : []));
describeEveryRead(
  SCENARIOS.map(({ name }) => name).filter((name) => !REPETITIVE.includes(name)),
  inTurn,
);
// These looks decide whom a selector admits.
describeEveryRead(['grant-withdrawn', 'granted-again'], ({ what }) =>
  what.startsWith('get namespaces/') ? READ_FAULTS_OF.kube : [],
);
