import fc from 'fast-check';
import { expect, test } from 'vitest';
import { databaseDefinition } from '../../src/kinds/database/schema.ts';
import { databaseClusterDefinition } from '../../src/kinds/databasecluster/schema.ts';
import { databaseSpaceDefinition } from '../../src/kinds/databasespace/schema.ts';
import { databaseUserDefinition } from '../../src/kinds/databaseuser/schema.ts';
import { type Resource, SECRETS } from '../../src/kube/api.ts';
import type { ResourceDefinition } from '../../src/kube/definition.ts';
import { arbitraryChange, type SpecChange } from '../support/arbitrary-spec.ts';
import { MINUTE_MS } from './people.ts';
import { isReady } from './scenario.ts';
import { CLUSTERS, DATABASES, SPACES, specOf, USERS } from './view.ts';
import { World } from './world.ts';

/** Runs for each kind. Three hundred were played once, and all came back. */
const RUNS = 50;
const SEED = 20_261_125;
const DETOUR_MINUTES = 12;
/** Time to come back. It includes the longest pause between two tries. */
const BOUND_MINUTES = 35;
const TIMEOUT_MS = 300_000;
const SIZE_GB = 100;
const SCHEMA = 'define attribute name, value string;';

/**
 * Names of what exists and of what does not, durations, and text with a meaning in a template or a URL. No schema definitions, as
 * what they define stays when the text is removed. No times so short that they would rightly keep a key busy.
 */
const TEXTS = [
  ...['production', 'orders', 'app', 'sales', 'nothing', 'cloud-read', 'cloud-admin', 'factory-login'],
  ...['orders-admin', 'app-connection', 'somebody-elses', 'own-password', 'password', 'base'],
  ...['30s', '10m', '24h', '5x', 'gcp', 'c2d-highcpu-4', 'c2d-highcpu-8', 'latest', 'define', ''],
  ...['https://{host}:{port}', 'https://cloud.example.com', '{{ username }}', '{{ x }}'],
];

/** Creates objects of all kinds, all of them Ready. */
async function aStand(): Promise<World> {
  const world = new World();
  const { people } = world;
  await world.start();
  await people.putSecret('somebody-elses', { username: 'x', password: 'y' });
  await people.putSecret('own-password', { password: 'a-password-of-our-own' });
  await people.createCluster({ backup: { frequency: 'daily', retentionDays: 7 }, storageSizeGB: SIZE_GB });
  await people.create(USERS, 'app', { clusterRef: { name: 'orders' } });
  await people.create(DATABASES, 'sales', { clusterRef: { name: 'orders' }, schema: [{ inline: SCHEMA }] });
  const areReady = () => isReady(world) && isReady(world, 'app', USERS) && isReady(world, 'sales', DATABASES);
  await world.until(areReady, 'all are Ready');
  await world.clock.advance(MINUTE_MS);
  return world;
}

/** Returns what exists in the cloud, on the server and in Kubernetes, without passwords and times. */
function standOf({ view, kube }: World): unknown {
  const servers = view.clusters().map(({ database: { users, databases } }) => ({
    users: [...users.keys()].sort(),
    databases: [...databases.values()].map(({ name, committed }) => [name, JSON.stringify(committed)]),
  }));
  const secrets = kube.all(SECRETS).map(({ metadata: { name, labels, annotations = {} }, ...secret }) => {
    // Noted once a password was replaced, as some detours do.
    const { 'mooring.dev/rotation': _, ...others } = annotations;
    return { name, labels, annotations: Object.keys(others).sort(), type: secret['type'] };
  });
  return { summary: view.summary(), servers, secrets: secrets.sort((one, other) => (one.name < other.name ? -1 : 1)) };
}

/** Returns the merge patch that turns one spec into the other. */
function difference(from: SpecChange, to: SpecChange): SpecChange {
  const gone = Object.keys(from).filter((field) => to[field] === undefined);
  const others = Object.entries(to).filter(([, value]) => value !== undefined);
  return Object.fromEntries([
    ...gone.map((field) => [field, null]),
    ...others.map(([field, value]) => [
      field,
      isFields(from[field]) && isFields(value) ? difference(from[field], value) : value,
    ]),
  ]);
}

function isFields(value: unknown): value is SpecChange {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Changes an object's spec, takes that back some minutes later, and expects everything to be as before. */
async function detour(name: string, resource: Resource, change: SpecChange): Promise<void> {
  const world = await aStand();
  const { clock, people, view, invariants } = world;
  const spec = () => {
    const object = view.object(name, resource);
    return object === undefined ? {} : specOf(object);
  };
  const [asIs, before] = [spec(), standOf(world)];
  const isBack = () => JSON.stringify(standOf(world)) === JSON.stringify(before);
  await people.edit({ spec: difference(asIs, { ...asIs, ...change }) }, name, resource);
  await clock.advance(DETOUR_MINUTES * MINUTE_MS);
  await people.edit({ spec: difference(spec(), asIs) }, name, resource);
  for (let minutes = 0; minutes < BOUND_MINUTES && !isBack(); minutes++) await clock.advance(MINUTE_MS);
  await clock.advance(MINUTE_MS);
  world.stop();
  expect([spec(), standOf(world), invariants.violations]).toEqual([asIs, before, []]);
}

test.each<[string, string, Resource, ResourceDefinition]>([
  ['DatabaseSpace', 'production', SPACES, databaseSpaceDefinition as ResourceDefinition],
  ['DatabaseCluster', 'orders', CLUSTERS, databaseClusterDefinition as ResourceDefinition],
  ['DatabaseUser', 'app', USERS, databaseUserDefinition as ResourceDefinition],
  ['Database', 'sales', DATABASES, databaseDefinition as ResourceDefinition],
])(
  'Whatever the spec of a %s was for some minutes, everything is as before once the spec is',
  async (_, name, resource, definition) => {
    // A cluster never shrinks again.
    const changes = arbitraryChange(definition, TEXTS, { storageSizeGB: SIZE_GB });
    const comesBack = fc.asyncProperty(changes, (change) => detour(name, resource, change));
    await fc.assert(comesBack, { numRuns: RUNS, seed: SEED });
  },
  TIMEOUT_MS,
);
