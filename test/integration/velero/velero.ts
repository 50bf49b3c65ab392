import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Guard } from '../../../tools/control-plane/guard.ts';
import { run } from '../../../tools/control-plane/run.ts';
import { lastLines } from '../../../tools/control-plane/tail.ts';
import { goModule, pinnedModule } from '../../../tools/go-module.ts';
import { builtTool } from '../../../tools/go-tool.ts';
import { waitUntil } from '../../support/control-plane.ts';
import { type KubernetesCluster, list } from '../../support/kubernetes-cluster.ts';

/*
 * Velero itself, as a process beside the API server. Its backups are in a folder, which a plugin of ours (main.go) reads and
 * writes; so they outlive the Kubernetes cluster. Port 8080 must be free, as no flag gives its second metrics server another.
 */

const MODULE = 'github.com/vmware-tanzu/velero';
const NAMESPACE = 'velero';

/** What is built once. */
export interface VeleroBuild {
  readonly command: string;
  readonly plugin: string;
  /** The folder with the source of the same version. */
  readonly source: string;
}

export interface VeleroServer {
  /** Backs this namespace up. */
  backup(name: string, namespace: string): Promise<void>;
  /** Waits until this server knows the backup. */
  knows(backup: string): Promise<void>;
  /** Restores all of the backup, with these flags. */
  restore(name: string, backup: string, ...flags: readonly string[]): Promise<void>;
  /** Throws unless every restore so far did what it should. */
  mustHaveRestored(): Promise<void>;
  stop(): Promise<void>;
}

export async function buildVelero(): Promise<VeleroBuild> {
  const tool = { folder: import.meta.dirname, module: MODULE };
  const options = { log: (line: string) => console.log(line) };
  const command = await builtTool(
    { ...tool, name: 'velero', package: `${MODULE}/cmd/velero`, about: '10 min' },
    options,
  );
  const plugin = await builtTool({ ...tool, name: 'velero-plugin', package: '.', about: '10 s' }, options);
  return { command, plugin, source: await goModule(pinnedModule(tool.folder, MODULE)) };
}

/** Starts a server in the cluster, whose backups are in `folder`. */
export async function startVelero(
  { command, plugin, source }: VeleroBuild,
  { controlPlane, kubectl }: KubernetesCluster,
  folder: string,
): Promise<VeleroServer> {
  const guard = new Guard(folder);
  const plugins = join(guard.directory, 'plugins');
  mkdirSync(plugins);
  copyFileSync(plugin, join(plugins, 'velero-plugin'));
  for (const version of ['v1', 'v2alpha1'])
    await kubectl(['apply', '--server-side', `--filename=${join(source, 'config/crd', version, 'bases')}`]);
  await kubectl(['create', 'namespace', NAMESPACE]);
  const manifest = list([location(folder), DEPLOYMENT]);
  await kubectl(['apply', '--server-side', `--namespace=${NAMESPACE}`, '--filename=-'], manifest);
  const env = { KUBECONFIG: controlPlane.kubeconfig, HOME: guard.directory, PATH: process.env['PATH'] };
  const args = ['server', `--plugin-dir=${plugins}`, '--metrics-address=127.0.0.1:0', '--profiler-address='];
  const server = await guard.start({ name: 'velero', command, args: [...args, `--namespace=${NAMESPACE}`], env });
  const read = async (resource: string, name = '') => {
    const what = name === '' ? [resource] : [resource, name];
    const text = await kubectl(['get', ...what, `--namespace=${NAMESPACE}`, '--ignore-not-found', '--output=json']);
    return text === '' ? undefined : JSON.parse(text);
  };
  const isAvailable = async () =>
    (await read('backupstoragelocations.velero.io', 'default'))?.status?.phase === 'Available';
  await waitUntil(isAvailable, { what: 'Velero has its folder', timeoutMs: 60_000 }).catch((error: unknown) => {
    throw new Error(`${error}\n${lastLines(server.log)}`);
  });
  const cli = async (...flags: readonly string[]) => {
    const { code, stdout, stderr } = await run(command, flags, { env, timeoutMs: 120_000 });
    if (code !== 0) throw new Error(`velero ${flags.join(' ')}: ${stdout}${stderr}\n${lastLines(server.log)}`);
  };
  const mustHaveRestored = async () => {
    for (const { metadata, status } of (await read('restores.velero.io')).items) {
      if (status?.phase === 'Completed') continue;
      const results = join(folder, 'backups/restores', metadata.name, `restore-${metadata.name}-results.gz`);
      throw new Error(`${metadata.name}: ${JSON.stringify(status)} ${gunzipSync(readFileSync(results))}`);
    }
  };
  return {
    backup: async (name, namespace) => {
      await cli('backup', 'create', name, `--include-namespaces=${namespace}`, '--wait');
      const { status } = await read('backups.velero.io', name);
      if (status.phase !== 'Completed') throw new Error(`${name}: ${JSON.stringify(status)}`);
    },
    // It looks into the folder once a minute.
    knows: async (backup) => {
      const isKnown = async () => (await read('backups.velero.io', backup)) !== undefined;
      await waitUntil(isKnown, { what: `Velero knows backup ${backup}`, timeoutMs: 150_000 });
    },
    restore: async (name, backup, ...flags) => {
      await cli('restore', 'create', name, `--from-backup=${backup}`, ...flags, '--wait');
      await mustHaveRestored();
    },
    mustHaveRestored,
    stop: () => guard.stop(),
  };
}

function location(folder: string): object {
  return {
    apiVersion: 'velero.io/v1',
    kind: 'BackupStorageLocation',
    metadata: { name: 'default' },
    spec: {
      provider: 'mooring.dev/folder',
      default: true,
      objectStorage: { bucket: 'backups' },
      config: { folder },
    },
  };
}

/** A restore reads the server's own Deployment. Here that has no pods: the server is a process. */
const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'velero' },
  spec: {
    replicas: 0,
    selector: { matchLabels: { deploy: 'velero' } },
    template: {
      metadata: { labels: { deploy: 'velero' } },
      spec: { containers: [{ name: 'velero', image: 'velero', args: ['server'] }] },
    },
  },
};
