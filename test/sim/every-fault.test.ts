import { describeEveryFault } from './every-fault.ts';
import { LIFECYCLE } from './scenarios/lifecycle.ts';
import { LOGINS } from './scenarios/logins.ts';
import { OF_SPACES } from './scenarios/spaces.ts';

describeEveryFault([...LIFECYCLE, ...LOGINS, ...OF_SPACES]);
