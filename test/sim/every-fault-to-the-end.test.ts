import { describeEveryFault } from './every-fault.ts';
import { ENDINGS } from './scenarios/endings.ts';
import { OTHERS } from './scenarios/others.ts';

describeEveryFault([...ENDINGS, ...OTHERS]);
