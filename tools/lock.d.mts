/**
 * Runs `run` while holding the lock at `path` (a folder), so that two processes do not do the same long work at once.
 * `onWait` is called once when another process holds it. A lock whose holder died is taken over after 15 seconds.
 */
export function withLock<T>(path: string, onWait: () => void, run: () => Promise<T>): Promise<T>;
