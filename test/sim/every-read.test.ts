import { describeEveryRead, THOROUGHLY } from './every-fault.ts';
import { READ_FAULTS_OF, type Read, type ReadFault } from './reads.ts';
import { NAMESPACES_APART } from './scenarios/namespaces.ts';
import { SCENARIOS } from './scenarios.ts';

const ALIKE: readonly (readonly ReadFault[])[] = [
  // The look is repeated, and only how soon differs.
  ['unauthorized', 'forbidden', 'throttled', 'misrouted', 'hang'],
  // The answer is of no use.
  ['truncated', 'misshapen'],
];
// Namespaces do not show over HTTP.
const OTHERS = SCENARIOS.filter((scenario) => !NAMESPACES_APART.includes(scenario))
  .map(({ name }) => name)
  .filter((name) => !THOROUGHLY.has(name));

function ofHttp({ to }: Read): readonly ReadFault[] {
  return to === 'http' ? READ_FAULTS_OF.http : [];
}

/** Faults that are alike take turns. */
function inTurn(read: Read): readonly ReadFault[] {
  const notItsTurn = ALIKE.flatMap((sort) => sort.filter((_, at) => at !== read.index % sort.length));
  return ofHttp(read).filter((fault) => !notItsTurn.includes(fault));
}

describeEveryRead([...THOROUGHLY], ofHttp);
describeEveryRead(OTHERS, inTurn);
