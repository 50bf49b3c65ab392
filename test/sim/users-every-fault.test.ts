import { describe } from 'vitest';
import { everyFault } from './every-fault.ts';
import { USER_SCENARIOS } from './user-scenarios.ts';

describe('every fault at every step of a user', () => {
  everyFault(USER_SCENARIOS);
});
