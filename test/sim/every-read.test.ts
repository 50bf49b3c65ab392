import { describeEveryRead } from './every-fault.ts';
import { SCENARIOS } from './scenarios.ts';

describeEveryRead(SCENARIOS);
