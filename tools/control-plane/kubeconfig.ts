import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceAccount } from './control-plane.ts';
import { run } from './run.ts';

export interface Access {
  readonly server: string;
  /** The certificates to trust, as PEM in base64. Undefined: the system's. */
  readonly certificateAuthorityData: string | undefined;
  readonly token: string;
}

/** Writes a kubeconfig with one context, as JSON, which is YAML. Only its owner can read the file. */
export function writeKubeconfig(path: string, { server, certificateAuthorityData, token }: Access): void {
  const name = 'mooring';
  const cluster = {
    server,
    ...(certificateAuthorityData === undefined ? {} : { 'certificate-authority-data': certificateAuthorityData }),
  };
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
}

export interface Kubectl {
  readonly kubectl: string;
  readonly kubeconfig: string;
  /** Where kubectl keeps its cache, instead of ~/.kube/cache. */
  readonly directory: string;
}

/** Runs kubectl to its end against that cluster only, whatever the user's environment says. */
export async function runKubectl(
  { kubectl, kubeconfig, directory }: Kubectl,
  args: readonly string[],
): Promise<string> {
  const env = { ...process.env, KUBECONFIG: kubeconfig, KUBECACHEDIR: join(directory, 'kubectl-cache') };
  const { code, stdout, stderr } = await run(kubectl, args, { env, timeoutMs: 60_000 });
  if (code !== 0) throw new Error(`kubectl ${args[0]} failed: ${stderr.trim()}`);
  return stdout;
}

interface MinifiedConfig {
  readonly clusters?: readonly {
    readonly cluster: { readonly server: string; readonly 'certificate-authority-data'?: string };
  }[];
}

/** The server and certificates of the kubeconfig's current context. */
export async function readCluster(kubectl: Kubectl): Promise<Omit<Access, 'token'>> {
  const text = await runKubectl(kubectl, ['config', 'view', '--minify', '--flatten', '--raw', '--output=json']);
  const cluster = (JSON.parse(text) as MinifiedConfig).clusters?.[0]?.cluster;
  if (!cluster) throw new Error(`Cannot use kubeconfig "${kubectl.kubeconfig}": its current context names no cluster`);
  return { server: cluster.server, certificateAuthorityData: cluster['certificate-authority-data'] };
}

/** Requests a token for the service account and writes a kubeconfig with it; returns its path. */
export async function serviceAccountKubeconfig(kubectl: Kubectl, { namespace, name }: ServiceAccount): Promise<string> {
  const cluster = await readCluster(kubectl);
  const token = await runKubectl(kubectl, ['create', 'token', name, `--namespace=${namespace}`, '--duration=24h']);
  const path = join(kubectl.directory, `${namespace}-${name}.kubeconfig`);
  writeKubeconfig(path, { ...cluster, token: token.trim() });
  return path;
}
