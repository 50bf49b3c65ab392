import { describeEveryRead, THOROUGHLY } from './every-fault.ts';
import { READ_FAULTS_OF, type Read, type ReadFault } from './reads.ts';
import { NAMESPACES_APART } from './scenarios/namespaces.ts';
import { SCENARIOS } from './scenarios.ts';

/** After these it is looked again, and only how soon is another. */
const NO_ANSWER: readonly ReadFault[] = ['unauthorized', 'forbidden', 'throttled', 'misrouted', 'hang'];
// Over HTTP nobody hears of namespaces.
const OTHERS = SCENARIOS.filter((scenario) => !NAMESPACES_APART.includes(scenario))
  .map(({ name }) => name)
  .filter((name) => !THOROUGHLY.has(name));

function ofHttp({ to }: Read): readonly ReadFault[] {
  return to === 'http' ? READ_FAULTS_OF.http : [];
}

/** Each in its turn, where it is not answered. */
function inTurn(read: Read): readonly ReadFault[] {
  const turn = NO_ANSWER[read.index % NO_ANSWER.length];
  return ofHttp(read).filter((fault) => fault === turn || !NO_ANSWER.includes(fault));
}

describeEveryRead([...THOROUGHLY], ofHttp);
describeEveryRead(OTHERS, inTurn);
