/**
 * For tests of what must never be, such as two that act at once: that may come out wrong in one run of many only, so it is not run
 * again. What waited for another process in vain is, as everywhere (vitest.config.ts).
 */
export const RETRY_WAITS = { retry: { count: 1, condition: /timed out|waited in vain|in time|EADDRINUSE|ECONN/i } };
