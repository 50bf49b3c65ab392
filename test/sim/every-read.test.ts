import { describeEveryRead } from './every-fault.ts';
import { READ_FAULTS_OF } from './reads.ts';
import { SCENARIOS } from './scenarios.ts';

describeEveryRead(
  SCENARIOS.map(({ name }) => name),
  ({ to }) => (to === 'http' ? READ_FAULTS_OF.http : []),
);
