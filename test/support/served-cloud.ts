import { systemClock } from '../../src/base/clock.ts';
import type { TeamOptions } from '../../src/simulator/cloud/state.ts';
import type { Dialect } from '../../src/simulator/dialect.ts';
import type { Incoming } from '../../src/simulator/exchange/message.ts';
import type { LoggedRequest } from '../../src/simulator/exchange/request-log.ts';
import { type SimulatorServer, startSimulatorServer } from '../../src/simulator/hosting/http-server.ts';
import type { Simulator } from '../../src/simulator/interface.ts';
import type { Knobs } from '../../src/simulator/knobs.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import type { Gate } from './gate.ts';

export interface ServedCloudOptions {
  readonly dialect?: Dialect;
  readonly knobs?: Partial<Knobs>;
  /** Default: one with the spaces `production` and `staging`. */
  readonly teams?: readonly TeamOptions[];
  /** The gate for each request from outside. */
  readonly gate?: Gate;
}

/** A simulated cloud in the test's own process, served over HTTP: the test can act behind everybody's back. */
export interface ServedCloud {
  readonly simulator: Simulator;
  readonly baseURL: string;
  /** The login that each new cluster comes with. */
  readonly factory: { readonly username: string; readonly password: string };
  /** Every secret seen so far: credentials, passwords and tokens. */
  readonly secrets: ReadonlySet<string>;
  /** How many requests of this kind, such as `deploy`, have done their work, whether or not they were answered. */
  tookEffect(operation: string): number;
  /** The bodies of requests with this name, such as `PATCH /clusters/orders`. */
  sent(what: string): readonly unknown[];
  /** How many requests there were, except for the regular Lists. */
  callsButLists(): number;
  /** The status that a sign-in at the address gets. */
  signIn(endpoint: string, username: string, password: string): Promise<number>;
  close(): Promise<void>;
}

/** A password that is not a word of any message. */
export const FACTORY_LOGIN = { username: 'admin', password: 'factory-pw-5f9c1e7a' } as const;

export async function startCloud(options: ServedCloudOptions = {}): Promise<ServedCloud> {
  const { dialect = 'document', knobs = {} } = options;
  const simulator = createSimulator({
    clock: systemClock,
    random: createSeededRandom(1),
    dialect,
    knobs,
    ...(options.teams && { teams: options.teams }),
    defaultCredentials: FACTORY_LOGIN,
  });
  const secrets = new Set<string>([FACTORY_LOGIN.password]);
  const bodies: { readonly what: string; readonly body: string }[] = [];
  const handle = async (request: Incoming, signal?: AbortSignal) => {
    if (request.body !== '') bodies.push({ what: nameOf(request), body: request.body });
    const outcome = await simulator.handle(request, signal);
    collectSecrets(secrets, request, outcome.kind === 'answer' ? outcome.answer.body : '');
    return outcome;
  };
  const gated: Simulator = {
    ...simulator,
    // Behind a gate, a request goes on even if nobody waits for its answer any more.
    handle: (request, signal) =>
      options.gate === undefined ? handle(request, signal) : options.gate(nameOf(request), () => handle(request)),
  };
  const server = await listenAnywhere(gated);
  return {
    simulator,
    baseURL: server.baseURL,
    factory: FACTORY_LOGIN,
    secrets,
    tookEffect: (operation) =>
      simulator.inspect().requests.filter((each) => each.operation === operation && tookEffect(each)).length,
    sent: (wanted) => bodies.filter(({ what }) => what === wanted).map(({ body }) => JSON.parse(body)),
    callsButLists: () => simulator.inspect().counters.total - simulator.count('list'),
    signIn: async (endpoint, username, password) => {
      const response = await fetch(`${endpoint}/v1/signin`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ username, password }),
      });
      await response.text();
      return response.status;
    },
    close: () => server.close(),
  };
}

function tookEffect({ status, faults }: LoggedRequest): boolean {
  return status === 0 ? faults.includes('lostAnswer') : status < 300;
}

/** Method and the end of the path: `POST /clusters`, `PUT /users/admin`. */
function nameOf({ method, path }: Incoming): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== 'api' && segment !== 'v1');
  const from = segments.indexOf('spaces') < 0 ? 0 : segments.indexOf('spaces') + 2;
  return `${method} /${segments.slice(from).join('/')}`;
}

function collectSecrets(secrets: Set<string>, { headers, body }: Incoming, answer: string): void {
  const credentials = (headers['authorization'] ?? '').replace(/^(Basic|Bearer) /, '');
  for (const part of [credentials, ...credentials.split(':').slice(1)]) if (part !== '') secrets.add(part);
  for (const text of [body, answer]) {
    for (const [, value] of text.matchAll(/"(?:password|token)"\s*:\s*"([^"]+)"/g)) if (value) secrets.add(value);
  }
  if (/^[\w-]+(\.[\w-]+)*$/.test(answer) && answer.length > 15) secrets.add(answer);
}

const PORTS = { first: 12_000, last: 30_000, apart: 20 } as const;
let nextPort = PORTS.first + ((process.pid * 211) % 400) * 40;

/** Database servers take the ports after the cloud's, so each cloud starts on a port of its own. */
async function listenAnywhere(simulator: Simulator): Promise<SimulatorServer> {
  for (let attempts = 0; ; attempts++) {
    const port = nextPort;
    nextPort = nextPort >= PORTS.last ? PORTS.first : nextPort + PORTS.apart;
    try {
      return await startSimulatorServer(simulator, { port });
    } catch (error) {
      // Once around all ports: a benchmark beside these tests may have ten thousand ports in a row.
      if (attempts * PORTS.apart > PORTS.last - PORTS.first) throw error;
    }
  }
}
