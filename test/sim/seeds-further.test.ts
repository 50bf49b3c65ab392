import { describeEverySeed } from './every-seed.ts';

// A file of its own, so that both are played at once.
describeEverySeed(1_001, 2_000);
