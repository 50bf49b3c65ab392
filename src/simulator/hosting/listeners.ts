import { createServer, type Server, type Socket } from 'node:net';
import { MAX_TIMER_MS } from '../../base/clock.ts';
import type { AddressBook, Cluster } from '../cloud/state.ts';
import type { Simulator } from '../interface.ts';

/** Ports that browsers and `fetch` refuse to connect to. */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);
const LAST_PORT = 65_535;
const FIRST_PORT = 1_024;

/** Hands out ports one by one, upwards from `first`, so that a person can tell whose they are. */
export function createPortBook(host: string, first: number): AddressBook {
  let next = first;
  const taken = new Set<number>();
  const advance = () => {
    next = next >= LAST_PORT ? FIRST_PORT : next + 1;
  };
  return {
    take: (preferred) => {
      const wanted = preferred === undefined ? undefined : portOf(preferred);
      if (wanted !== undefined && preferred === `${host}:${wanted}` && !taken.has(wanted)) {
        taken.add(wanted);
        return preferred;
      }
      while (taken.has(next) || BLOCKED_PORTS.has(next)) advance();
      const port = next;
      taken.add(port);
      advance();
      return `${host}:${port}`;
    },
    giveBack: (address) => void taken.delete(portOf(address)),
  };
}

const portOf = (address: string): number => Number(address.slice(address.lastIndexOf(':') + 1));

interface Listener {
  readonly server: Server;
  /** Its connections; undefined before the first. */
  sockets: Set<Socket> | undefined;
}

/**
 * Keeps a port open for every running server and for no other, so that a pending server refuses connections. Also lets time
 * pass for the clusters, since nobody else may be looking.
 */
export class Listeners {
  readonly #simulator: Simulator;
  readonly #host: string;
  readonly #connected: (socket: Socket, address: string) => void;
  readonly #byAddress = new Map<string, Listener>();
  readonly #ofCluster = new Map<Cluster, Set<string>>();
  readonly #timers = new Map<Cluster, () => void>();
  readonly #unsubscribe: () => void;

  constructor(simulator: Simulator, host: string, connected: (socket: Socket, address: string) => void) {
    this.#simulator = simulator;
    this.#host = host;
    this.#connected = connected;
    this.#unsubscribe = simulator.onChange((cluster) => {
      if (cluster !== undefined) this.#follow(cluster);
      else this.#followAll();
    });
    this.#followAll();
  }

  /** Resolves once every port is open. A server whose port was taken has moved by then. */
  async listening(): Promise<void> {
    for (let next = this.#opening(); next !== undefined; next = this.#opening()) await openOrNot(next);
  }

  #opening(): Server | undefined {
    return [...this.#byAddress.values()].find(({ server }) => !server.listening)?.server;
  }

  close(): void {
    this.#unsubscribe();
    for (const cancel of this.#timers.values()) cancel();
    for (const address of [...this.#byAddress.keys()]) this.#stop(address);
  }

  #followAll(): void {
    for (const cluster of this.#simulator.clusters()) this.#follow(cluster);
  }

  #follow(cluster: Cluster): void {
    this.#schedule(cluster);
    const open = this.#ofCluster.get(cluster) ?? new Set<string>();
    const wanted = new Set(
      cluster.servers.map(({ address }) => address).filter((address) => this.#simulator.isServing(cluster, address)),
    );
    for (const address of open) if (!wanted.has(address)) this.#stop(address);
    for (const address of wanted) if (!open.has(address)) this.#start(cluster, address);
    if (wanted.size === 0) this.#ofCluster.delete(cluster);
    else this.#ofCluster.set(cluster, wanted);
  }

  #schedule(cluster: Cluster): void {
    this.#timers.get(cluster)?.();
    this.#timers.delete(cluster);
    const dueMs = this.#simulator.nextEventMs(cluster);
    if (dueMs === undefined) return;
    const { clock } = this.#simulator;
    const delayMs = Math.min(Math.max(0, dueMs - clock.now()), MAX_TIMER_MS);
    this.#timers.set(
      cluster,
      clock.after(delayMs, () => {
        this.#timers.delete(cluster);
        this.#simulator.settle(cluster);
        // Whether or not that changed anything, there may be a later event to wait for.
        if (!this.#timers.has(cluster)) this.#schedule(cluster);
      }),
    );
  }

  #start(cluster: Cluster, address: string): void {
    const listener: Listener = {
      server: createServer((socket) => {
        listener.sockets ??= new Set();
        listener.sockets.add(socket);
        socket.once('close', () => listener.sockets?.delete(socket));
        this.#connected(socket, address);
      }),
      sockets: undefined,
    };
    const { server } = listener;
    this.#byAddress.set(address, listener);
    server.once('error', () => {
      // The port is taken: the server moves to another one, as servers do.
      this.#stop(address);
      this.#ofCluster.get(cluster)?.delete(address);
      this.#simulator.move(cluster);
    });
    server.listen({ host: this.#host, port: portOf(address) });
  }

  #stop(address: string): void {
    const listener = this.#byAddress.get(address);
    if (listener === undefined) return;
    this.#byAddress.delete(address);
    listener.server.close();
    for (const socket of listener.sockets ?? []) socket.resetAndDestroy();
  }
}

function openOrNot(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.once('listening', resolve);
    server.once('error', () => resolve());
    server.once('close', resolve);
  });
}
