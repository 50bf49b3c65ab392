import { type SpawnOptions, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
// Only the module for configuration: the package's entry point loads every model of the API.
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { ExecAuth } from '@kubernetes/client-node/dist/exec_auth.js';
import { load as loadYaml } from 'js-yaml';
import { z } from 'zod';
import { yamlProblemWords } from '../../base/yaml-problem.ts';
import { type Impersonation, impersonation } from './impersonation.ts';

export interface Kubeconfig {
  readonly config: KubeConfig;
  /** By user name: the file that holds the user's token. */
  readonly tokenFiles: ReadonlyMap<string, string>;
  /** By user name: whom the user acts as. */
  readonly impersonations: ReadonlyMap<string, Impersonation>;
}

/** The user of a context that names none. */
const NOBODY = '';

/** Fields that the library does not read: it knows a token's file by another name than kubectl does, and of an impersonation only `as`. */
const userFields = z.object({ tokenFile: z.string().nullish(), ...impersonation.shape });
const withUsers = z.object({ users: z.array(z.object({ name: z.string(), user: userFields.nullish() })).nullish() });

/**
 * `tell`: called with what exec plugins say to a person, and with nothing when that is over. `signal`: ends them. Throws if a file cannot be
 * read.
 */
export function readKubeconfig(
  paths: readonly string[],
  tell?: (text: string) => void,
  signal?: AbortSignal,
): Kubeconfig {
  const config = new KubeConfig();
  runWithoutInput(config, tell, signal);
  config.addUser({ name: NOBODY });
  const fields: UserFields = { tokenFiles: new Map(), impersonations: new Map() };
  for (const path of paths) addFile(config, fields, path);
  return { config, ...fields };
}

/** The library gives an exec plugin a pipe that never ends as its input: one that asks a person would wait for ever. */
function runWithoutInput(
  config: KubeConfig,
  tell: ((text: string) => void) | undefined,
  signal: AbortSignal | undefined,
): void {
  const run = (command: string, args: readonly string[] | undefined, options: SpawnOptions) => {
    const plugin = spawn(command, args ?? [], { ...options, signal, stdio: ['ignore', 'pipe', 'pipe'] });
    if (tell !== undefined) {
      tell('');
      plugin.stderr.on('data', (data: Buffer | string) => tell(data.toString()));
      plugin.on('close', (code) => code === 0 && tell(''));
    }
    return plugin;
  };
  for (const each of config['authenticators'] as readonly unknown[]) {
    if (each instanceof ExecAuth) Object.assign(each, { execFn: run });
  }
}

/** Throws if a field is of the wrong type, and repeats nothing of it: without the field, the user would act as somebody else. */
function usersIn(text: string) {
  const { data, error } = withUsers.safeParse(loadYaml(text));
  if (error === undefined) return data.users ?? [];
  const [{ path, message } = { path: [], message: '' }] = error.issues;
  throw new Error(path.length === 0 ? message : `${path.join('.')}: ${message}`);
}

type UserFields = Readonly<Record<'tokenFiles', Map<string, string>>> &
  Readonly<Record<'impersonations', Map<string, Impersonation>>>;

/** Merges files as kubectl does: an earlier file wins. A file with nothing but comments counts as none. */
function addFile(config: KubeConfig, { tokenFiles, impersonations }: UserFields, path: string): void {
  const file = new KubeConfig();
  let users: NonNullable<z.infer<typeof withUsers>['users']>;
  try {
    const text = readFileSync(path, 'utf8');
    if (text.split('\n').every((line) => /^\s*(#.*|---\s*)?$/.test(line))) return;
    file.loadFromString(text);
    file.makePathsAbsolute(dirname(path));
    users = usersIn(text);
  } catch (error) {
    throw new Error(`Kubeconfig ${path} cannot be read: ${yamlProblemWords(error)}`);
  }
  const isNew = (known: readonly { readonly name: string }[] | undefined) => (each: { readonly name: string }) =>
    known?.some(({ name }) => name === each.name) !== true;
  for (const { name, user } of users.filter(isNew(config.getUsers()))) {
    if (user?.tokenFile) tokenFiles.set(name, resolve(dirname(path), user.tokenFile));
    if (user) impersonations.set(name, impersonation.parse(user));
  }
  // The library refuses http, such as that of `kubectl proxy`, unless no certificate must be verified.
  for (const cluster of file.getClusters().filter(isNew(config.getClusters())))
    config.addCluster(cluster.server.startsWith('http://') ? { ...cluster, skipTLSVerify: true } : cluster);
  for (const user of file.getUsers().filter(isNew(config.getUsers()))) {
    if (user.exec?.command?.includes('/')) user.exec.command = resolve(dirname(path), user.exec.command);
    config.addUser(user);
  }
  for (const context of file.getContexts().filter(isNew(config.getContexts())))
    config.addContext({ ...context, user: context.user ?? NOBODY });
  if (!config.getCurrentContext()) config.setCurrentContext(file.getCurrentContext());
}

/** Tells the current user's exec plugin what client-go tells it: the version to answer in, and the cluster if it asks for that. */
export function tellPlugin(config: KubeConfig): void {
  const exec = config.getCurrentUser()?.exec;
  const cluster = config.getCurrentCluster();
  if (!exec || cluster === null) return;
  const told = {
    server: cluster.server,
    'tls-server-name': cluster.tlsServerName,
    'insecure-skip-tls-verify': cluster.skipTLSVerify || undefined,
    'certificate-authority-data':
      cluster.caData ?? (cluster.caFile === undefined ? undefined : readFileSync(cluster.caFile, 'base64')),
    'proxy-url': cluster.proxyUrl,
  };
  const spec = { interactive: false, ...(exec.provideClusterInfo === true ? { cluster: told } : {}) };
  const value = JSON.stringify({ kind: 'ExecCredential', apiVersion: exec.apiVersion, spec });
  exec.env = [...(exec.env ?? []), { name: 'KUBERNETES_EXEC_INFO', value }];
}
