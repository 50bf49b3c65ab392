/**
 * For tests that something never happens, such as two replicas acting at once: they may fail in only one of many runs, so they are not
 * run again. A test that waited for another process in vain is, as everywhere (vitest.config.ts).
 */
export const RETRY_WAITS = { retry: { count: 1, condition: /timed out|waited in vain|in time|EADDRINUSE|ECONN/i } };
