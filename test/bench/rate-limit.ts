/** A limit on requests a second, with a burst of as many. */
export class RateLimit {
  readonly #perSecond: number;
  #tokens: number;
  #filledAtMs: number;

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#tokens = perSecond;
    this.#filledAtMs = nowMs;
  }

  /** Returns undefined if a request may pass, otherwise the whole number of seconds for Retry-After. */
  refuse(nowMs: number): number | undefined {
    const since = ((nowMs - this.#filledAtMs) / 1000) * this.#perSecond;
    this.#tokens = Math.min(this.#perSecond, this.#tokens + since);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 1) return Math.max(1, Math.ceil((1 - this.#tokens) / this.#perSecond));
    this.#tokens -= 1;
    return undefined;
  }
}
