import { describeEveryRead } from './every-fault.ts';
import { READ_FAULTS_OF } from './reads.ts';
import { NAMESPACES_APART } from './scenarios/namespaces.ts';
import { SCENARIOS } from './scenarios.ts';

describeEveryRead(
  // Over HTTP nobody hears of namespaces.
  SCENARIOS.filter((scenario) => !NAMESPACES_APART.includes(scenario)).map(({ name }) => name),
  ({ to }) => (to === 'http' ? READ_FAULTS_OF.http : []),
);
