import { describeEveryRead } from './every-fault.ts';
import { READ_FAULTS_OF, type Read, type ReadFault } from './reads.ts';
import { NAMESPACES_APART } from './scenarios/namespaces.ts';
import { SCENARIOS } from './scenarios.ts';

/** In which a process begins, and lists everything; or may read Secrets by their names only. */
const STRUCK_BY_ALL = ['deploy 4:crashAfter', 'database-with-schema 4:crashAfter', 'user secrets=get'];
/** They look at the same things again and again, or but for one at what others look at, too. */
const REPETITIVE: readonly string[] = [
  'two-spaces-rotate',
  'two-spaces-busy',
  ...NAMESPACES_APART.map(({ name }) => name),
];

/** The operator handles all alike, but for how long it waits: so one at each look, each in its turn. */
function inTurn({ to, index }: Read): readonly ReadFault[] {
  const fault = READ_FAULTS_OF.kube[index % READ_FAULTS_OF.kube.length];
  return to === 'http' || fault === undefined ? [] : [fault];
}

describeEveryRead(STRUCK_BY_ALL, ({ to }) => (to === 'kube' ? READ_FAULTS_OF.kube : []));
describeEveryRead(
  SCENARIOS.map(({ name }) => name).filter((name) => !REPETITIVE.includes(name)),
  inTurn,
);
// Whom a selector admits follows from these.
describeEveryRead(['grant-withdrawn', 'granted-again'], ({ what }) =>
  what.startsWith('get namespaces/') ? READ_FAULTS_OF.kube : [],
);
