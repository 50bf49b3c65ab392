/* Exit codes of the commands besides 0 (well), 1 (failed) and 2 (called wrongly). */

/** Time was over before a change was seen to be done: as timeout(1) has it. */
export const TIMED_OUT = 124;
/** Somebody ended it with Ctrl-C: as shells have it. */
export const INTERRUPTED = 130;
/** Whoever read its output has gone: as shells have it where SIGPIPE ends a process. */
export const UNREAD = 141;
