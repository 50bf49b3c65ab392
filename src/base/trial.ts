/** Of those that failed together and may try again, one goes first: the others follow only if it did better. */
export class Trial {
  #going: Promise<boolean> | undefined;

  /** `again`, or rejects with `failure` where another one that went meanwhile failed as well. `fails`: whether an error of `again` is such a failure. */
  async run<T>(again: () => Promise<T>, failure: unknown, fails: (error: unknown) => boolean): Promise<T> {
    if (this.#going !== undefined) {
      if (!(await this.#going)) throw failure;
      return again();
    }
    const attempt = again();
    this.#going = attempt.then(
      () => true,
      (error: unknown) => !fails(error),
    );
    try {
      return await attempt;
    } finally {
      this.#going = undefined;
    }
  }
}
