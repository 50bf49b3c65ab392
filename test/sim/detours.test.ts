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

/** Three hundred of each kind were played once, and all came back. */
const RUNS = 50;
const SEED = 20_261_125;
const DETOUR_MINUTES = 12;
/** After the longest pause between two tries. */
const BOUND_MINUTES = 35;
const TIMEOUT_MS = 300_000;
const SIZE_GB = 100;
const SCHEMA = 'define attribute name, value string;';

/**
 * Names of what is there and of what is not, durations, and what means something in a template or a URL. No definition: what a
 * schema defined is not taken away with its text. No time so short that a key is busy, as it is asked to be.
 */
const TEXTS = [
  ...['production', 'orders', 'app', 'sales', 'nothing', 'cloud-read', 'cloud-admin', 'factory-login'],
  ...['orders-admin', 'app-connection', 'somebody-elses', 'own-password', 'password', 'base'],
  ...['30s', '10m', '24h', '5x', 'gcp', 'c2d-highcpu-4', 'c2d-highcpu-8', 'latest', 'define', ''],
  ...['https://{host}:{port}', 'https://cloud.example.com', '{{ username }}', '{{ x }}'],
];

/** Objects of all kinds, each as it should be. */
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

/** All that there is in the cloud, on the server and in Kubernetes, but for passwords and what tells of times. */
function standOf({ view, kube }: World): unknown {
  const servers = view.clusters().map(({ database: { users, databases } }) => ({
    users: [...users.keys()].sort(),
    databases: [...databases.values()].map(({ name, committed }) => [name, JSON.stringify(committed)]),
  }));
  const secrets = kube.all(SECRETS).map(({ metadata: { name, labels, annotations = {} }, ...secret }) => {
    return { name, labels, annotations: Object.keys(annotations).sort(), type: secret['type'] };
  });
  return { summary: view.summary(), servers, secrets: secrets.sort((one, other) => (one.name < other.name ? -1 : 1)) };
}

/** As a merge patch, what makes one of the other. */
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

/** An object gets the change, and is as before some minutes later. */
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
  'Whatever the spec of a %s was for some minutes, all is as before once it is what it was',
  async (_, name, resource, definition) => {
    // A cluster that has grown stays as large.
    const changes = arbitraryChange(definition, TEXTS, { storageSizeGB: SIZE_GB });
    const comesBack = fc.asyncProperty(changes, (change) => detour(name, resource, change));
    await fc.assert(comesBack, { numRuns: RUNS, seed: SEED });
  },
  TIMEOUT_MS,
);
