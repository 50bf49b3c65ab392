import { API_VERSION } from '../../src/base/group.ts';
import { createLog } from '../../src/base/log.ts';
import { CloudClient } from '../../src/cloud/client.ts';
import { definitions } from '../../src/kinds/definitions.ts';
import { type AnyObject, NAMESPACES, SECRETS } from '../../src/kube/api.ts';
import { objectKey } from '../../src/kube/object.ts';
import { createMetrics } from '../../src/operator/metrics.ts';
import { createOperator } from '../../src/operator.ts';
import type { PlannedObject } from '../../src/plan/objects.ts';
import { readSecrets } from '../../src/plan/secrets.ts';
import { resourceOf } from '../../src/plugin/kinds.ts';
import type { StepTold } from '../../src/runtime/controller.ts';
import { FakeKube } from '../../src/sandbox/fake-kube.ts';
import { virtualClock } from '../../src/sandbox/virtual-clock.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';
import { createSimulator, DEFAULT_TEAMS } from '../../src/simulator/simulator.ts';
import { encoded } from './secrets.ts';

/** Specs of objects, by `kind name`. */
export type Specs = Readonly<Record<string, object>>;

export const SPACE = {
  teamID: 'acme',
  spaceID: 'production',
  apiTokens: ['read', 'write', 'admin'].map((level) => ({ level, secretRef: { name: `cloud-${level}` } })),
  defaultCredentialsSecretRef: { name: 'factory-login' },
  verifyInterval: '0s',
};
export const ON_ORDERS = { clusterRef: { name: 'orders' } };

/** A separate world with a cloud, in which an operator runs. */
export async function aWorld(specs: Specs, concurrency = 1) {
  const clock = virtualClock();
  const random = createSeededRandom(5);
  const simulator = createSimulator({ clock, random, knobs: { levelsNest: true, resumeChangesAddress: false } });
  const statusDefaults = Object.fromEntries(definitions.map(({ plural }) => [plural, { observedGeneration: -1 }]));
  const kube = new FakeKube({ now: clock.now, random, statusDefaults });
  const secret = (name: string, data: Readonly<Record<string, string>>) =>
    kube.create(SECRETS, 'shop', {
      metadata: { name },
      data: encoded(data),
    });
  for (const level of ['read', 'write', 'admin'])
    await secret(`cloud-${level}`, { clientID: `${level}-id`, clientSecret: `${level}-secret-0123456789` });
  await secret('factory-login', { username: 'admin', password: 'password' });
  const told: StepTold[] = [];
  const operator = createOperator({
    api: kube,
    clock,
    random,
    transport: () => simulator.transport,
    log: createLog({ level: 'silent', format: 'json', write: () => {} }),
    metrics: createMetrics(clock, { version: '', node: '' }),
    namespaces: undefined,
    concurrency,
    urlPolicy: { allowHTTP: true, allowedBaseURLs: undefined, allowedNetworks: undefined },
    instance: 'real',
    lease: undefined,
    onStep: (step) => told.push(step),
  });
  const stop = new AbortController();
  const running = operator.run(stop.signal);
  const apply = async (wanted: Specs, deleted: readonly string[] = []) => {
    for (const name of deleted) {
      const { definition, ref } = named(name);
      kube.remove(resourceOf(definition), ref);
    }
    for (const [name, spec] of Object.entries({
      'DatabaseSpace production': { ...SPACE, baseURL: simulator.baseURL },
      ...wanted,
    })) {
      const { definition, ref } = named(name);
      const resource = resourceOf(definition);
      const found = await kube.get(resource, ref);
      const whole = definition.spec.parse(spec) as object;
      if (found === undefined)
        await kube.create(resource, 'shop', {
          apiVersion: API_VERSION,
          kind: definition.kind,
          metadata: { name: ref.name },
          spec: whole,
        });
      else {
        const gone = Object.keys(specOf(found)).filter((field) => !(field in whole));
        const patch = { ...whole, ...Object.fromEntries(gone.map((field) => [field, null])) };
        await kube.patch(resource, ref, { spec: patch });
      }
    }
    await clock.advance(900_000);
  };
  await apply(specs);
  return {
    clock,
    kube,
    simulator,
    apply,
    remove: async (name: string) => {
      const { definition, ref } = named(name);
      kube.remove(resourceOf(definition), ref);
      await clock.advance(900_000);
    },
    stepsSince: async (work: () => Promise<void>) => {
      told.splice(0);
      await work();
      return told
        .filter(({ kind }) => kind !== 'DatabaseSpace')
        .map(({ kind, key, description }) => `${kind} ${key}: ${description}`);
    },
    /** The input of `mooring plan`. */
    input: async (wanted: Specs, deleted: readonly string[] = []) => {
      const space = { 'DatabaseSpace production': { ...SPACE, baseURL: simulator.baseURL } };
      const objects = objectsOf(kube, { ...space, ...wanted }, deleted);
      const notes: string[] = [];
      const given = { namespace: 'shop', documents: [] };
      return {
        objects,
        listed: new Map([['shop/production', await listed(simulator, clock)]]),
        configMaps: [],
        secrets: await readSecrets(kube, given, objects, notes, new AbortController().signal),
        namespaces: kube.all(NAMESPACES),
      };
    },
    end: async () => {
      stop.abort();
      await clock.advance(60_000);
      await running;
    },
  };
}

async function listed(simulator: ReturnType<typeof createSimulator>, clock: ReturnType<typeof virtualClock>) {
  const token = DEFAULT_TEAMS[0]?.apiTokens.find(({ level }) => level === 'read');
  const credentials = [
    { level: 'read', clientID: token?.clientID ?? '', clientSecret: token?.clientSecret ?? '' },
  ] as const;
  const client = new CloudClient({
    baseURL: simulator.baseURL,
    teamID: 'acme',
    spaceID: 'production',
    credentials,
    clock,
    random: createSeededRandom(6),
    transport: simulator.transport,
  });
  const list = client.list();
  await clock.advance(1_000);
  return list;
}

function named(name: string) {
  const [kind, object = ''] = name.split(' ');
  const definition = definitions.find((each) => each.kind === kind);
  if (definition === undefined) throw new Error(`There is no kind ${kind}`);
  return { definition, ref: { namespace: 'shop', name: object } };
}

function objectsOf(kube: FakeKube, wanted: Specs, deleted: readonly string[]): readonly PlannedObject[] {
  const live = definitions.flatMap((definition) =>
    kube.all(resourceOf(definition)).map((object) => [`${definition.kind} ${object.metadata.name}`, object] as const),
  );
  const names = [...new Set([...live.map(([name]) => name), ...Object.keys(wanted)])];
  return names.map((name) => {
    const { definition, ref } = named(name);
    const object = live.find(([each]) => each === name)?.[1];
    const spec = wanted[name] === undefined ? undefined : definition.spec.parse(wanted[name]);
    const next = {
      ...object,
      metadata: object?.metadata ?? { ...ref, uid: '', resourceVersion: '' },
      spec,
    } as AnyObject;
    return {
      definition,
      key: objectKey('shop', ref.name),
      live: object,
      wanted: deleted.includes(name) ? undefined : spec === undefined ? object : next,
    };
  });
}

export function specOf(object: AnyObject): object {
  return (object as { readonly spec?: object }).spec ?? {};
}
