import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dump, loadAll } from 'js-yaml';
import { run } from '../../../tools/control-plane/run.ts';
import { KINDS } from '../../chart/cluster.ts';
import { startNodeCluster } from '../../chart/node-cluster.ts';
import { waitUntil } from '../../support/control-plane.ts';
import { wholeSpace } from '../../support/manifests.ts';
import { ROOT, readDocument } from '../../support/readme.ts';
import { type ServedCloud, startCloud } from '../../support/served-cloud.ts';
import { builtArgoCd, startArgoCd } from './argo-cd.ts';

/** The parts of an Application that are looked at. */
export interface Application {
  readonly sync: string;
  readonly health: string;
  /** What its last operation is at, and which revision that has applied. */
  readonly phase: string;
  readonly message: string;
  readonly synced: string;
  readonly resources: readonly { readonly kind: string; readonly name: string; readonly status: string }[];
}

/** Argo CD and Mooring on a control plane, a simulated cloud, and repositories that Argo CD reads. */
export interface World {
  readonly cloud: ServedCloud;
  kubectl(...args: readonly string[]): Promise<string>;
  /** Creates the Applications of deploy/argocd/applications.yaml, and what they need that is not in Git. */
  begin(): Promise<void>;
  /** Commits a changed file of the databases, and has Argo CD look. Returns the revision. */
  edit(file: 'space.yaml' | 'orders.yaml', change: (text: string) => string): Promise<string>;
  refresh(name: string, how?: 'normal' | 'hard'): Promise<void>;
  /** Waits until the Application is as wanted. Undefined: it is gone. */
  until(name: string, what: string, check: (application: Application | undefined) => boolean): Promise<void>;
  /** Runs `argocd`, which must succeed. */
  argocd(...args: readonly string[]): Promise<string>;
  /** Each object of ours, and each Secret, with its version. */
  versions(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

export const NAMESPACE = 'shop';
const DATABASES = 'deploy/argocd/databases';
/** Simulated cloud and servers are on loopback. */
const VALUES = { allowHTTP: true, allowedNetworks: ['127.0.0.0/8'] };
/** Argo CD itself runs as processes. */
const PODS = ['Deployment', 'StatefulSet', 'NetworkPolicy'];
const TIMEOUT_MS = 180_000;

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly source: { readonly helm?: { readonly valuesObject: object } } };
}

const asText = (manifests: readonly object[]) => manifests.map((each) => `---\n${dump(each)}`).join('');

export async function startWorld(): Promise<World> {
  const files = await builtArgoCd({ log: (line) => console.log(line) });
  const cluster = await startNodeCluster('argocd');
  const { folder, controlPlane, kubectl } = cluster;
  const cloud = await startCloud({ knobs: { provisionMs: [1000, 1000] } });
  const apply = (text: string, ...args: readonly string[]) =>
    cluster.apply(text, '--server-side', '--force-conflicts', ...args);

  await kubectl('create', 'namespace', 'argocd');
  const install = loadAll(readFileSync(join(files.manifests, 'install.yaml'), 'utf8')) as Manifest[];
  await apply(asText(install.filter(({ kind }) => !PODS.includes(kind))), '--namespace=argocd');
  // As docs/gitops.md says.
  const config = join(ROOT, 'deploy/argocd/argocd-cm.yaml');
  await kubectl('apply', '--server-side', '--field-manager', 'mooring', '--filename', config);
  const account = (name: string) => controlPlane.kubeconfigFor({ namespace: 'argocd', name });
  const argocd = await startArgoCd({
    files,
    controllerKubeconfig: await account('argocd-application-controller'),
    serverKubeconfig: await account('argocd-server'),
  });

  const git = async (repository: string, ...args: readonly string[]) => {
    const { code, stdout, stderr } = await run('git', args, { cwd: join(folder, repository) });
    if (code !== 0) throw new Error(`git ${args[0]} failed: ${stderr}`);
    return stdout.trim();
  };
  const commit = async (repository: string) => {
    await git(repository, 'add', '--all');
    const author = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
    await git(repository, ...author, 'commit', '--quiet', '--message=A change');
    return git(repository, 'rev-parse', 'HEAD');
  };
  const create = async (repository: string, path: string) => {
    cpSync(join(ROOT, path), join(folder, repository, path), { recursive: true });
    await git(repository, 'init', '--quiet', '--initial-branch=main');
  };
  await create('platform', 'charts/mooring');
  await commit('platform');
  await create('databases', DATABASES);
  const space = join(folder, 'databases', DATABASES, 'space.yaml');
  const reachable = readFileSync(space, 'utf8')
    .replace('https://cloud.example.com', cloud.baseURL)
    .replace(/\n*$/, '\n  serverURL: http://{host}:{port}\n  pollInterval: 1s\n');
  writeFileSync(space, reachable);
  await commit('databases');

  async function application(name: string): Promise<Application | undefined> {
    const text = await kubectl('get', 'applications', '--namespace=argocd', '--output=json');
    const { items } = JSON.parse(text) as { items: { metadata: { name: string }; status?: Status }[] };
    const found = items.find(({ metadata }) => metadata.name === name);
    if (found === undefined) return undefined;
    const { sync, health, operationState, resources } = found.status ?? {};
    return {
      sync: sync?.status ?? '',
      health: health?.status ?? '',
      phase: operationState?.phase ?? '',
      message: operationState?.message ?? '',
      synced: operationState?.syncResult?.revision ?? '',
      resources: resources ?? [],
    };
  }
  const refresh = async (name: string, how = 'normal') => {
    const annotation = `argocd.argoproj.io/refresh=${how}`;
    await kubectl('annotate', 'application', name, '--namespace=argocd', '--overwrite', annotation);
  };

  return {
    cloud,
    kubectl,
    refresh,
    begin: async () => {
      const text = readDocument('deploy/argocd/applications.yaml')
        .replace('https://git.example.com/platform/mooring.git', `file://${folder}/platform`)
        .replace('https://git.example.com/shop/databases.git', `file://${folder}/databases`);
      const applications = loadAll(text) as Manifest[];
      for (const { spec } of applications) Object.assign(spec.source.helm?.valuesObject ?? {}, VALUES);
      await kubectl('create', 'namespace', NAMESPACE);
      const secrets = wholeSpace(cloud).filter(({ kind }) => kind === 'Secret');
      await apply(asText(secrets), `--namespace=${NAMESPACE}`);
      await apply(asText(applications));
    },
    edit: async (file, change) => {
      const path = join(folder, 'databases', DATABASES, file);
      const before = readFileSync(path, 'utf8');
      const after = change(before);
      if (after === before) throw new Error(`Nothing of ${file} changed`);
      writeFileSync(path, after);
      const revision = await commit('databases');
      await refresh('databases');
      return revision;
    },
    until: async (name, what, check) => {
      let last: Application | undefined;
      const isAsWanted = async () => {
        last = await application(name);
        return check(last);
      };
      await waitUntil(isAsWanted, { what, timeoutMs: TIMEOUT_MS }).catch((error: unknown) => {
        throw new Error(`${String(error)}: ${JSON.stringify(last, null, 2)}`);
      });
    },
    argocd: async (...args) => {
      const { code, stdout, stderr } = await argocd.cli(...args);
      if (code !== 0) throw new Error(`argocd ${args.join(' ')} failed: ${stderr}`);
      return stdout;
    },
    versions: async () => {
      const text = await kubectl('get', `${KINDS.join()},secrets`, `--namespace=${NAMESPACE}`, '--output=json');
      const { items } = JSON.parse(text) as { items: { kind: string; metadata: Record<string, string> }[] };
      return items.map(({ kind, metadata }) => `${kind}/${metadata['name']} ${metadata['resourceVersion']}`);
    },
    stop: async () => {
      await argocd.stop();
      await cloud.close();
      await cluster.stop();
    },
  };
}

interface Status {
  readonly sync?: { readonly status: string };
  readonly health?: { readonly status: string };
  readonly operationState?: {
    readonly phase: string;
    readonly message: string;
    readonly syncResult?: { readonly revision?: string };
  };
  readonly resources?: Application['resources'];
}
