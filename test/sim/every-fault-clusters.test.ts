import { describeEveryFault } from './every-fault.ts';
import { REFUSALS } from './scenarios/refusals.ts';

describeEveryFault(REFUSALS);
