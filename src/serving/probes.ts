import type { Clock } from '../base/clock.ts';
import { EventLoopWatch } from '../base/event-loop.ts';
import { type HttpServer, type Page, serve } from './http-server.ts';

/** What the probes ask. A problem is undefined if there is none. */
export interface Probed {
  /** What is stuck, if only a new process helps. */
  stuck(): string | undefined;
  /** Why it is not ready to work yet. */
  notReady(): string | undefined;
  /** Whether it acts, or stands by for another process that does. */
  acts(): boolean;
}

/** Serves `/livez` and `/readyz`, and watches the event loop meanwhile. Rejects if it cannot listen there. */
export async function serveProbes(address: string, probed: Probed, clock: Clock): Promise<HttpServer> {
  const eventLoop = new EventLoopWatch(clock);
  const server = await serve(address, {
    '/livez': () => page(probed.stuck() ?? eventLoop.problem(), 'ok'),
    '/readyz': () => page(probed.notReady(), probed.acts() ? 'ok: acts' : 'ok: stands by'),
  });
  // Only once it listens: a process that cannot listen must end, and a timer would keep it from that.
  eventLoop.start();
  const close = () => {
    eventLoop.stop();
    return server.close();
  };
  return { address: server.address, close };
}

function page(problem: string | undefined, well: string): Page {
  return { status: problem === undefined ? 200 : 503, contentType: 'text/plain', body: `${problem ?? well}\n` };
}
