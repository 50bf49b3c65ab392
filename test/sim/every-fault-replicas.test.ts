import { describeEveryFault } from './every-fault.ts';
import { FOR_REPLICAS } from './faults.ts';
import { SCENARIOS } from './scenarios.ts';

// What one process does wrong on its own, it does wrong with another beside it: here is what only two can do.
describeEveryFault(SCENARIOS, { replicas: 2, faults: FOR_REPLICAS });
