/**
 * What a request passes through on its way: a test may let it pass, hold it, or withhold its answer. `what` names the
 * request for people, such as `POST /clusters`.
 */
export type Gate = <T>(what: string, pass: () => Promise<T>) => Promise<T>;

/** Never answers: for those who will not be there any more. */
export const silence = <T>(): Promise<T> => new Promise<T>(() => {});
