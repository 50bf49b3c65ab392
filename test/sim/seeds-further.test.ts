import { describeEverySeed } from './every-seed.ts';
import { PLAYED } from './seeds.ts';

// A file of its own, so that both run in parallel.
describeEverySeed(PLAYED / 2 + 1, PLAYED);
