import { describeEveryFault } from './every-fault.ts';
import { LIFECYCLE } from './scenarios/lifecycle.ts';
import { LOGINS } from './scenarios/logins.ts';

describeEveryFault([...LIFECYCLE, ...LOGINS]);
