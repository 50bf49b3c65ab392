import { describe } from 'vitest';
import { everyFault } from './every-fault.ts';
import { SCENARIOS } from './scenarios.ts';

describe('every fault at every step', () => {
  everyFault(SCENARIOS);
});
