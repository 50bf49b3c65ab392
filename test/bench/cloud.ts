// node tools/bootstrap.mjs test/bench/cloud.ts PORT STATE-FILE SPACES PROVISION-TIME LATENCY [REQUESTS-PER-SECOND]
//
// The simulated cloud for the benchmark: like `mooring simulate`, but its state is written only once, at the end. With ten
// thousand clusters it would write ten megabytes after each change, and the benchmark would measure the cloud.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { systemClock } from '../../src/base/clock.ts';
import { startSimulatorServer } from '../../src/simulator/hosting/http-server.ts';
import { parseKnobFlags, SIMULATE_KNOBS } from '../../src/simulator/knobs.ts';
import { parseState } from '../../src/simulator/saved-state.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';
import { createSimulator, createTeam } from '../../src/simulator/simulator.ts';
import { limitedCloud } from './limited-cloud.ts';

const [port, file = '', spaces = '', provisionTime, latency, requestsPerSecond] = process.argv.slice(2);
const simulator = createSimulator({
  clock: systemClock,
  random: createSeededRandom(1),
  knobs: { ...SIMULATE_KNOBS, ...parseKnobFlags({ 'provision-time': provisionTime, latency }) },
  teams: [createTeam('acme', spaces.split(','), true)],
  ...(existsSync(file) ? { state: parseState(readFileSync(file, 'utf8')) } : {}),
});
const limited = limitedCloud(simulator, requestsPerSecond === undefined ? undefined : Number(requestsPerSecond));
const { baseURL } = await startSimulatorServer(limited, { host: '127.0.0.1', port: Number(port) });
process.once('SIGTERM', () => {
  writeFileSync(file, JSON.stringify(simulator.save()), { mode: 0o600 });
  process.exit(0);
});
process.stdout.write(`${JSON.stringify({ baseURL })}\n`);
