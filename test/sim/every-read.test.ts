import { describeEveryRead, THOROUGHLY } from './every-fault.ts';
import { READ_FAULTS_OF, type Read, type ReadFault } from './reads.ts';
import { NAMESPACES_APART } from './scenarios/namespaces.ts';
import { SCENARIOS } from './scenarios.ts';

/** After these the look is repeated, and only how soon differs. */
const NO_ANSWER: readonly ReadFault[] = ['unauthorized', 'forbidden', 'throttled', 'misrouted', 'hang'];
// Namespaces do not show over HTTP.
const OTHERS = SCENARIOS.filter((scenario) => !NAMESPACES_APART.includes(scenario))
  .map(({ name }) => name)
  .filter((name) => !THOROUGHLY.has(name));

function ofHttp({ to }: Read): readonly ReadFault[] {
  return to === 'http' ? READ_FAULTS_OF.http : [];
}

/** Faults without an answer take turns. */
function inTurn(read: Read): readonly ReadFault[] {
  const turn = NO_ANSWER[read.index % NO_ANSWER.length];
  return ofHttp(read).filter((fault) => fault === turn || !NO_ANSWER.includes(fault));
}

describeEveryRead([...THOROUGHLY], ofHttp);
describeEveryRead(OTHERS, inTurn);
