/**
 * Intercepts requests: a test may let one pass, hold it, or withhold its answer. `what` names the request for people, such as
 * `POST /clusters`.
 */
export type Gate = <T>(what: string, pass: () => Promise<T>) => Promise<T>;

/** Never answers: for callers that will be gone. */
export const silence = <T>(): Promise<T> => new Promise<T>(() => {});
