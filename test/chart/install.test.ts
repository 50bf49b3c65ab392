import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GROUP } from '../../src/base/group.ts';
import { readText } from '../../src/base/transport.ts';
import { createUndiciTransport } from '../../src/http/undici-transport.ts';
import { definitions } from '../../src/kinds/definitions.ts';
import { ownRules, policyRules, reviewRules } from '../../src/rbac.ts';
import { waitUntil } from '../support/control-plane.ts';
import { CHART, HELM_BUILD_MS } from '../support/helm.ts';
import { cluster as clusterManifest, type Manifest, space, wholeSpace } from '../support/manifests.ts';
import { ROOT, readDocument, shellBlocks } from '../support/readme.ts';
import { FACTORY_LOGIN, type ServedCloud, startCloud } from '../support/served-cloud.ts';
import { auditedRequests } from './audit.ts';
import { type ChartCluster, changes, KINDS, lookedAtAll, startChartCluster } from './cluster.ts';

/*
 * The chart's life with the real helm on a real control plane: install, samples, upgrade, uninstall, install again. Its pods
 * run as the API server has them: arguments, environment, the ServiceAccount's token, the image's user, and a read-only root
 * file system.
 */

/**
 * Simulated cloud and servers are on loopback, where a pod sends nothing unless told to. An operator whose roles are deleted
 * first cannot give up its Lease, so the next one waits until it has expired.
 */
const VALUES = {
  allowHTTP: true,
  allowedNetworks: ['127.0.0.0/8'],
  leaderElection: { leaseDuration: '5s', renewDeadline: '4s', retryPeriod: '1s' },
};
const NAMESPACE = 'orders';
const SAMPLES = globSync(join(ROOT, 'deploy/samples/*.yaml'));
const WAIT = ['--wait', '--timeout=90s', '--namespace=mooring-system'];

let cluster: ChartCluster;
let cloud: ServedCloud;
let before: ReadonlyMap<string, string>;

beforeAll(async () => {
  cluster = await startChartCluster();
  cloud = await startCloud({ knobs: { provisionMs: [100, 100] } });
  const restricted = ['enforce', 'warn'].map((mode) => `pod-security.kubernetes.io/${mode}=restricted`);
  await cluster.makeNamespace('mooring-system', ...restricted);
  await cluster.makeNamespace(NAMESPACE);
}, HELM_BUILD_MS);

afterAll(async () => {
  await cloud?.close();
  await cluster?.stop();
});

async function applySamples(): Promise<void> {
  expect(SAMPLES.length).toBeGreaterThan(3);
  for (const path of SAMPLES) {
    const text = readFileSync(path, 'utf8')
      .replaceAll('http://127.0.0.1:7080', cloud.baseURL)
      .replace(/^ {2}password: password$/m, `  password: ${FACTORY_LOGIN.password}`);
    await cluster.apply(text, NAMESPACE);
  }
}

function applyTo(namespace: string, manifest: Manifest): Promise<void> {
  return cluster.apply(JSON.stringify(manifest), namespace);
}

/** Commands of documents that are tested here. */
function blocksIn(document: string): readonly string[] {
  const blocks = shellBlocks(readDocument(document)).filter(({ test: how }) => how === 'test/chart/install.test.ts');
  return blocks.map(({ commands }) => commands);
}

/** Returns commands for the chart from one block of a document, for a helm that runs here. */
function commandsIn(document: string, index = 0): readonly (readonly string[])[] {
  const lines = (blocksIn(document)[index] ?? '').replaceAll('\\\n', ' ').split('\n');
  return lines.map((line) => {
    const [command, ...args] = line.split(/ +/);
    expect(command).toBe('helm');
    return args.map((arg) => arg.replace(/^charts\/mooring$/, CHART));
  });
}

/** The chart as if of an earlier version: another version number, and one kind with another short name. */
function previousChart(): string {
  const path = join(cluster.folder, 'previous');
  cpSync(CHART, path, { recursive: true });
  const edit = (file: string, from: RegExp, to: string) => {
    const text = readFileSync(join(path, file), 'utf8');
    expect(text).toMatch(from);
    writeFileSync(join(path, file), text.replaceAll(from, to));
  };
  edit('Chart.yaml', /^(version|appVersion): .*$/gm, '$1: 0.0.1');
  edit('templates/crds/databaseclusters.yaml', /- dbc$/gm, '- cluster');
  edit('templates/crds/databases.yaml', /- dbd$/gm, '- dbase');
  edit('templates/crds/databases.yaml', /name: Ready$/gm, 'name: Well');
  return path;
}

/** The first commands of "By hand": definitions, namespace and roles. */
function byHand(): string {
  return shellBlocks(readDocument('README.md')).find(({ test: how }) => how === 'in order')?.commands ?? '';
}

/** Objects with the release's label, including those without a namespace. */
async function leftOfRelease(): Promise<readonly string[]> {
  const kinds = 'crd,clusterrole,clusterrolebinding,role,rolebinding,deployment,service,serviceaccount,pod';
  const selector = '--selector=app.kubernetes.io/instance=mooring';
  const names = await cluster.kubectl('get', kinds, '--all-namespaces', selector, '--output=name');
  return names.trim().split('\n').toSorted();
}

describe('a release', () => {
  test('helm install waits until the operator is ready', async () => {
    await cluster.helm(['install', 'mooring', previousChart(), ...WAIT], VALUES);
    const [operator, ...others] = cluster.operators();
    expect(others).toEqual([]);
    const status = readFileSync(`/proc/${operator?.pid}/status`, 'utf8');
    if (process.getuid?.() === 0) expect(status).toMatch(/^Uid:\t65532\t65532/m);
    // The mount of its root.
    expect(readFileSync(`/proc/${operator?.pid}/mountinfo`, 'utf8')).toMatch(/^\d+ \d+ \S+ \S+ \/ ro[, ]/m);
    expect(operator?.logs()).toContain('Mooring listens');
  });

  test('what the samples declare becomes Ready with the rights that the chart gives', async () => {
    await applySamples();
    await cluster.allReady(NAMESPACE);
    expect(cluster.operators()[0]?.logs()).not.toMatch(/[Ff]orbidden|EROFS|EACCES/);
  });

  test('helm test checks that it is ready', async () => {
    const printed = await cluster.helm(['test', 'mooring', '--timeout=60s', '--namespace=mooring-system']);
    expect(printed).toMatch(/Phase: +Succeeded/);
    expect(cluster.processes().at(-1)?.logs()).toBe('200 ok: acts\n');
  });

  test('an upgrade brings new CustomResourceDefinitions and another pod, and changes nothing else', async () => {
    before = await cluster.versions(NAMESPACE);
    expect(before.size).toBeGreaterThan(5);
    const done = changes(cloud);
    const [upgrade = [], ...more] = commandsIn('docs/guides/upgrading.md');
    expect([upgrade[0], more]).toEqual(['upgrade', []]);
    await cluster.helm(upgrade);
    await waitUntil(() => cluster.operators().length === 2, { what: 'there is another pod' });
    const [first, second] = cluster.operators();
    await lookedAtAll(second, before);
    expect(await cluster.kubectl('get', 'dbc', `--namespace=${NAMESPACE}`, '--output=name')).toContain('orders');
    expect(await cluster.versions(NAMESPACE)).toEqual(before);
    expect(changes(cloud)).toEqual(done);
    expect(first?.logs()).toContain('Mooring has stopped');
  });

  test('going back as the guide says leaves the newer CustomResourceDefinitions, which a rollback does not', async () => {
    const shortNames = () =>
      cluster.kubectl('get', 'crd', 'databases.mooring.dev', '--output=jsonpath={.spec.names.shortNames}');
    const [back = [], ...more] = commandsIn('docs/guides/upgrading.md', 2);
    expect([back[0], more]).toEqual(['upgrade', []]);
    await cluster.helm(back.map((arg) => (arg === '../older/charts/mooring' ? previousChart() : arg)));
    expect(await shortNames()).toBe('["dbd"]');
    expect(await cluster.versions(NAMESPACE)).toEqual(before);
    await cluster.helm(['rollback', 'mooring', '1', ...WAIT]);
    expect(await shortNames()).toBe('["dbase"]');
    const [upgrade = []] = commandsIn('docs/guides/upgrading.md');
    await cluster.helm([...upgrade, '--set=crds.install=true']);
    expect(await shortNames()).toBe('["dbd"]');
    expect(await cluster.versions(NAMESPACE)).toEqual(before);
  });

  test('handing the CustomResourceDefinitions over to others removes none of them', async () => {
    await cluster.helm(['upgrade', 'mooring', CHART, ...WAIT, '--reuse-values', '--set=crds.install=false']);
    expect(await cluster.versions(NAMESPACE)).toEqual(before);
  });

  test('an uninstall leaves the CustomResourceDefinitions, the objects and the clusters, and nothing else', async () => {
    await cluster.helm(['uninstall', 'mooring', ...WAIT]);
    expect(await cluster.versions(NAMESPACE)).toEqual(before);
    const crds = KINDS.map((name) => `customresourcedefinition.apiextensions.k8s.io/${name}`);
    expect(await leftOfRelease()).toEqual(crds.toSorted());
    const hasStopped = () => cluster.operators().at(-1)?.logs().includes('Mooring has stopped');
    await waitUntil(hasStopped, { what: 'the operator has stopped' });
  });

  test("installed again with the README's commands, it finds everything as it was", async () => {
    const done = changes(cloud);
    const commands = commandsIn('README.md');
    expect(commands.map(([verb]) => verb)).toEqual(['install', 'test']);
    for (const args of commands) await cluster.helm(args, args[0] === 'install' ? VALUES : undefined);
    await lookedAtAll(cluster.operators().at(-1), before);
    expect(await cluster.versions(NAMESPACE)).toEqual(before);
    expect(changes(cloud)).toEqual(done);
  });

  test('under another name it takes over what the first one left, if told to', async () => {
    await cluster.helm(['uninstall', 'mooring', ...WAIT]);
    await expect(cluster.helm(['install', 'harbour', CHART, ...WAIT], VALUES)).rejects.toThrow(
      /invalid ownership metadata/,
    );
    await cluster.helm(['install', 'harbour', CHART, ...WAIT, '--take-ownership'], VALUES);
    expect(await cluster.versions(NAMESPACE)).toEqual(before);
  });
});

describe('a release for named namespaces', () => {
  const HERE = ['--wait', '--timeout=90s', '--namespace=tenants-system'];
  const ACCOUNT = 'system:serviceaccount:tenants-system:';

  beforeAll(async () => {
    await cluster.helm(['uninstall', 'harbour', ...WAIT]);
    for (const name of ['tenants-system', 'platform', 'outside']) await cluster.makeNamespace(name);
    await cluster.makeNamespace('tenant', 'team=tenant');
    const values = {
      ...VALUES,
      watchNamespaces: ['platform', 'tenant'],
      crds: { install: false },
      rbac: { secrets: 'get' },
    };
    await cluster.helm(['install', 'tenants', CHART, ...HERE], values);
  });

  test('has no ClusterRole, and makes all Ready with Roles, also across namespaces, without a list of Secrets', async () => {
    const names = ['clusterrolebinding', '--selector=app.kubernetes.io/instance=tenants', '--output=name'];
    expect(await cluster.kubectl('get', ...names)).toBe('');
    const selector = { from: 'Selector', selector: { matchLabels: { team: 'tenant' } } };
    for (const manifest of wholeSpace(cloud, { allowedNamespaces: selector })) await applyTo('platform', manifest);
    await applyTo('tenant', clusterManifest({ spaceRef: { name: 'production', namespace: 'platform' } }, {}, 'ledger'));
    await cluster.allReady('platform');
    await cluster.allReady('tenant');
  });

  test('leaves other namespaces alone', async () => {
    await applyTo('outside', space(cloud));
    await applyTo('platform', space(cloud, { pollInterval: '2s', allowedNamespaces: { from: 'All' } }));
    await cluster.kubectl(
      'wait',
      '--namespace=platform',
      '--for=jsonpath={.status.observedGeneration}=2',
      'dbs/production',
    );
    const [outside] = await cluster.list('outside', 'databasespaces');
    expect(outside?.status).toEqual({ observedGeneration: -1 });
  });

  test('counts repeated Events', async () => {
    const ready = (status: string) =>
      cluster.kubectl(
        'wait',
        '--namespace=platform',
        `--for=condition=Ready=${status}`,
        '--timeout=30s',
        'dbs/production',
      );
    for (const [baseURL, status] of [
      ['http://10.0.0.1', 'False'],
      [cloud.baseURL, 'True'],
      ['http://10.0.0.1', 'False'],
      [cloud.baseURL, 'True'],
    ] as const) {
      await applyTo('platform', space(cloud, { baseURL, allowedNamespaces: { from: 'All' } }));
      await ready(status);
    }
    const isCounted = async () => {
      const events = ['get', 'events.v1.events.k8s.io', '--namespace=platform'];
      return /[2-9]/.test(await cluster.kubectl(...events, '--output=jsonpath={.items[*].series.count}'));
    };
    await waitUntil(isCounted, { what: 'the Event is counted' });
  });

  test('shows metrics only to those who may see them', async () => {
    const certificate = (file: string) => join(cluster.directory, 'certificates', `apiserver.${file}`);
    const files = [`--cert=${certificate('crt')}`, `--key=${certificate('key')}`, '--namespace=tenants-system'];
    await cluster.kubectl('create', 'secret', 'tls', 'metrics-tls', ...files);
    const values = { metrics: { secure: { enabled: true, secretName: 'metrics-tls' } } };
    await cluster.helm(['upgrade', 'tenants', CHART, ...HERE, '--reset-then-reuse-values'], values);
    await cluster.kubectl('create', 'serviceaccount', 'prometheus', '--namespace=tenants-system');
    const token = (await cluster.kubectl('create', 'token', 'prometheus', '--namespace=tenants-system')).trim();
    const transport = createUndiciTransport({ ca: readFileSync(certificate('crt'), 'utf8') });
    const status = async (headers: Readonly<Record<string, string>>) => {
      const url = `https://${cluster.operators().at(-1)?.targets().get('8080')}/metrics`;
      const response = await transport({ method: 'GET', url, headers });
      await readText(response, 1e7);
      return response.status;
    };
    const authorization = `Bearer ${token}`;
    expect(await status({})).toBe(401);
    expect(await status({ authorization })).toBe(403);
    const binding = ['create', 'clusterrolebinding', 'prometheus', '--clusterrole=tenants-mooring-metrics-reader'];
    await cluster.kubectl(...binding, '--serviceaccount=tenants-system:prometheus');
    await waitUntil(async () => (await status({ authorization })) === 200, { what: 'Prometheus may see them' });
    await transport.close();
  });

  test('releases everything that it made, on request', async () => {
    const patch = [
      'patch',
      'databasecluster',
      'ledger',
      '--type=merge',
      '--patch={"spec":{"deletionPolicy":"Delete"}}',
    ];
    await cluster.kubectl(...patch, '--namespace=tenant');
    await cluster.kubectl('delete', 'databasecluster', 'ledger', '--namespace=tenant', '--timeout=60s');
    expect(await cluster.list('tenant', 'secrets')).toEqual([]);
    await cluster.kubectl('delete', 'databasespace', 'production', '--namespace=platform', '--timeout=60s');
  });

  test('requests nothing that it has no right to', () => {
    const refused = auditedRequests(cluster.directory, ACCOUNT).filter(({ code }) => code === 401 || code === 403);
    expect(refused).toEqual([]);
    const secrets = auditedRequests(cluster.directory, ACCOUNT).filter(({ resource }) => resource === 'secrets');
    expect(new Set(secrets.map(({ verb }) => verb))).toEqual(new Set(['get', 'create', 'patch', 'delete']));
  });
});

describe('rights', () => {
  const used = () => {
    const requests = auditedRequests(cluster.directory, 'system:serviceaccount:').filter(({ user }) =>
      /:(mooring-system|tenants-system):/.test(user),
    );
    return new Set(
      requests.filter(({ code }) => code < 400).map(({ verb, group, resource }) => `${verb} ${resource}.${group}`),
    );
  };
  // Without shards, whose rights test/process/sharding.test.ts uses.
  const rules = [...policyRules, ...ownRules, ...reviewRules].filter(({ when = '' }) => !when.includes('shardBySpace'));
  const given = rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`))),
  );
  /** Only used after a version conflict, which only reconcile.test.ts can cause reliably. */
  const afterConflict = new Set(definitions.map(({ plural }) => `get ${plural}.${GROUP}`));
  const samples = SAMPLES.map((path) => readFileSync(path, 'utf8')).join('\n');
  /** Rights for a kind that no sample declares cannot show here. */
  const unseen = definitions
    .filter(({ kind }) => !samples.includes(`\nkind: ${kind}\n`))
    .flatMap(({ kind, plural }) => [
      `patch ${plural}.`,
      `patch ${plural}/`,
      ...(kind === 'Database' ? ['get configmaps.'] : []),
    ]);
  /** Only used if an API server cannot stream lists, as in test/control-plane/api-server-restart.test.ts. */
  const inPages = (right: string) => right.startsWith('list ') && given.includes(right.replace('list', 'watch'));
  const shown = given.filter(
    (right) => !afterConflict.has(right) && !inPages(right) && !unseen.some((begin) => right.startsWith(begin)),
  );

  test.each(shown)('the operator needs to %s', (right) => expect(used()).toContain(right));

  test.each([
    ['view', { get: true, list: true, watch: true, create: false, patch: false, delete: false }],
    ['edit', { get: true, create: true, update: true, patch: true, delete: true, deletecollection: true }],
    ['admin', { get: true, create: true, delete: true }],
  ])("the cluster's role %s covers our objects, but not their status", async (role, verbs) => {
    const bind = ['create', 'rolebinding', role, `--clusterrole=${role}`, `--user=${role}er`, '--namespace=tenant'];
    await cluster.kubectl(...bind);
    const may = async (verb: string, resource: string) => {
      const resourceAttributes = { namespace: 'tenant', verb, group: GROUP, resource };
      const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
      const { body } = await cluster.api.send('POST', path, {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: { user: `${role}er`, resourceAttributes },
      });
      return (body as { status: { allowed: boolean } }).status.allowed;
    };
    const rightsTo = async (plural: string) => ({
      ...Object.fromEntries(
        await Promise.all(Object.keys(verbs).map(async (verb) => [verb, await may(verb, plural)] as const)),
      ),
      patchStatus: await may('patch', `${plural}/status`),
    });
    for (const { plural } of definitions) {
      // The API server's authorizer watches bindings and roles, and may learn of them a moment after they are written.
      await expect
        .poll(() => rightsTo(plural), { message: plural, timeout: 30_000 })
        .toEqual({ ...verbs, patchStatus: false });
    }
  });
});

describe('without Helm', () => {
  const DEPLOYED = ['rollout', 'status', 'deployment/mooring', '--namespace=mooring-system', '--timeout=60s'];

  beforeAll(async () => {
    await cluster.helm(['uninstall', 'tenants', '--wait', '--timeout=90s', '--namespace=tenants-system']);
    await cluster.kubectl('delete', 'namespace', 'mooring-system', '--timeout=60s');
  });

  test("deploy/install.yaml with the README's command runs the operator, and leaves everything in place", async () => {
    const [, , command = ''] = blocksIn('README.md');
    expect(blocksIn('docs/guides/upgrading.md')[1]).toBe(command);
    expect(await cluster.shell(command)).toContain('deployment.apps/mooring serverside-applied');
    const image = '--output=jsonpath={.spec.template.spec.containers[*].image}';
    const used = await cluster.kubectl('get', 'deployment', 'mooring', '--namespace=mooring-system', image);
    expect(used).toMatch(/^registry\.example\.com\/mooring:\d/);
    await cluster.kubectl(...DEPLOYED);
    // It may not connect to the cloud here, so the space says that, and the rest stays as it is.
    await cluster.kubectl('wait', `--namespace=${NAMESPACE}`, '--for=condition=Ready=False', 'dbs/production');
    expect([...(await cluster.versions(NAMESPACE)).keys()]).toEqual([...before.keys()]);
  });

  test('going back as the guide says leaves the definitions alone', async () => {
    const [, , , back = ''] = blocksIn('docs/guides/upgrading.md');
    const versions = () =>
      cluster.kubectl('get', 'crd', ...KINDS, '--output=jsonpath={.items[*].metadata.resourceVersion}');
    const definitions = await versions();
    const applied = await cluster.shell(back.replaceAll('../older/', ''));
    expect(applied).toContain('deployment.apps/mooring serverside-applied');
    expect(applied).not.toContain('customresourcedefinition');
    expect(await versions()).toBe(definitions);
    await cluster.kubectl(...DEPLOYED);
  });

  test('deploy/base gives the same with kustomize, which can change it', async () => {
    const folder = join(cluster.folder, 'overlay');
    cpSync(join(ROOT, 'deploy/base'), join(folder, 'base'), { recursive: true });
    const image = { name: 'mooring', newName: 'registry.example.com/mooring', newTag: 'v1' };
    const overlay = { resources: ['base'], images: [image], replicas: [{ name: 'mooring', count: 2 }] };
    writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(overlay));
    await cluster.kubectl('apply', '--server-side', '--kustomize', folder);
    await cluster.kubectl(...DEPLOYED);
    const path = '--output=jsonpath={.spec.template.spec.containers[*].image} {.status.readyReplicas}';
    const state = await cluster.kubectl('get', 'deployment', 'mooring', '--namespace=mooring-system', path);
    expect(state).toBe('registry.example.com/mooring:v1 2');
  });

  test('the chart takes over what was installed by hand, even in another version, if told to', async () => {
    await cluster.kubectl('delete', 'namespace', 'mooring-system', '--timeout=60s');
    expect(await cluster.shell(byHand())).toContain('clusterrole.rbac.authorization.k8s.io/mooring ');
    const older = `sed 's/- dbc$/- cluster/; s/name: Ready$/name: Well/' crds/mooring.dev_databaseclusters.yaml`;
    await cluster.shell(`${older} | kubectl apply --server-side --force-conflicts --filename=-`);
    const values = { ...VALUES, rbac: { secrets: 'get' } };
    const [install = []] = commandsIn('README.md');
    await expect(cluster.helm(install, values)).rejects.toThrow(/invalid ownership metadata/);
    await expect(cluster.helm([...install, '--take-ownership'], values)).rejects.toThrow(/conflict with "kubectl/);
    const [take = [], ...more] = commandsIn('README.md', 1);
    expect(more).toEqual([]);
    await cluster.helm(take, values);
    expect([...(await cluster.versions(NAMESPACE)).keys()]).toEqual([...before.keys()]);
  });

  test('kubectl stays a field manager of what it took over, so an upgrade needs the flag, too', async () => {
    const [upgrade = []] = commandsIn('docs/guides/upgrading.md');
    const toAnother = upgrade.map((arg) => (arg === CHART ? previousChart() : arg));
    await expect(cluster.helm(toAnother)).rejects.toThrow(/conflict with "kubectl/);
    await cluster.helm([...toAnother, '--force-conflicts']);
    const names = '--output=jsonpath={.spec.names.shortNames}';
    expect(await cluster.kubectl('get', 'crd', 'databases.mooring.dev', names)).toBe('["dbase"]');
  });
});
