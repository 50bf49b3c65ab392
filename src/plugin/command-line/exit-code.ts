/* Exit codes of the commands besides 0 (well), 1 (failed) and 2 (called wrongly). */

/** Time ran out before a change was done; the code is that of timeout(1). */
export const TIMED_OUT = 124;
/** Ended with Ctrl-C; the code is that of shells. */
export const INTERRUPTED = 130;
/** The reader of its output has gone; the code is that of shells when SIGPIPE ends a process. */
export const UNREAD = 141;
