import { HttpError } from './transport.ts';

interface Flight<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

/**
 * Runs a piece of work at most once at a time: callers that ask while it runs share its outcome. Each may leave by its own
 * signal; when all have left, the work is aborted.
 */
export class SingleFlight<T> {
  #flight: Flight<T> | undefined;

  /** Starts `work`, or joins the one that is running. Rejects with HttpError `aborted` when `signal` aborts. */
  async run(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (signal?.aborted) throw aborted();
    this.#flight ??= this.#start(work);
    const flight = this.#flight;
    flight.waiting++;
    try {
      return await orAbort(flight.result, signal);
    } finally {
      flight.waiting--;
      if (flight.waiting === 0) this.#end(flight);
    }
  }

  #start(work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const flight: Flight<T> = { result: work(controller.signal), controller, waiting: 0 };
    const clear = () => {
      if (this.#flight === flight) this.#flight = undefined;
    };
    flight.result.then(clear, clear);
    return flight;
  }

  #end(flight: Flight<T>): void {
    if (this.#flight !== flight) return;
    this.#flight = undefined;
    flight.controller.abort();
  }
}

function orAbort<T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return result;
  return new Promise<T>((resolve, reject) => {
    const leave = () => reject(aborted());
    signal.addEventListener('abort', leave, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

function aborted(): HttpError {
  return new HttpError('aborted', 'Aborted');
}
