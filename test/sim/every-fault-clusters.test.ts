import { describeEveryFault } from './every-fault.ts';
import { REFUSALS } from './scenarios/refusals.ts';
import { SEVERAL_SERVERS } from './scenarios/several-servers.ts';

describeEveryFault([...REFUSALS, ...SEVERAL_SERVERS]);
