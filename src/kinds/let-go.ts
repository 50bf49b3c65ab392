import { ABANDON } from '../kube/annotations.ts';

/** Ends a message of an object whose deletion waits for something. */
export const LET_GO = `To let go of it as it is, annotate ${ABANDON}=true`;
