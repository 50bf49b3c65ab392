import { type SpawnOptions, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
// Only the module for configuration: the package's entry point loads every model of the API.
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { ExecAuth } from '@kubernetes/client-node/dist/exec_auth.js';
import { load as loadYaml } from 'js-yaml';
import { z } from 'zod';
import { yamlProblemWords } from '../../base/yaml-problem.ts';

export interface Kubeconfig {
  readonly config: KubeConfig;
  /** By user name: the file that holds the user's token. */
  readonly tokenFiles: ReadonlyMap<string, string>;
  /** By user name: a field that asks for an impersonation that is not supported. */
  readonly unsent: ReadonlyMap<string, string>;
}

/** The user of a context that names none. */
const NOBODY = '';

/** The library sends only `as` of an impersonation: without the rest it would act as somebody other than the file says. */
const UNSENT = ['as-groups', 'as-uid', 'as-user-extra'] as const;

/** Fields that the library does not read: it knows a token's file by another name than kubectl does. */
const userFields = z.looseObject({ tokenFile: z.string().optional() });
const withUsers = z
  .object({ users: z.array(z.object({ name: z.string(), user: userFields.nullish() })) })
  .catch({ users: [] });

/** Throws if a file cannot be read. */
export function readKubeconfig(paths: readonly string[]): Kubeconfig {
  const config = new KubeConfig();
  runWithoutInput(config);
  config.addUser({ name: NOBODY });
  const fields: UserFields = { tokenFiles: new Map(), unsent: new Map() };
  for (const path of paths) addFile(config, fields, path);
  return { config, ...fields };
}

/** The library gives an exec plugin a pipe that never ends as its input: one that asks a person would wait for ever. */
function runWithoutInput(config: KubeConfig): void {
  const run = (command: string, args: readonly string[] | undefined, options: SpawnOptions) =>
    spawn(command, args ?? [], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const each of config['authenticators'] as readonly unknown[]) {
    if (each instanceof ExecAuth) Object.assign(each, { execFn: run });
  }
}

type UserFields = Readonly<Record<'tokenFiles' | 'unsent', Map<string, string>>>;

/** Merges files as kubectl does: an earlier file wins. A file with nothing but comments counts as none. */
function addFile(config: KubeConfig, { tokenFiles, unsent }: UserFields, path: string): void {
  const file = new KubeConfig();
  let users: z.infer<typeof withUsers>['users'];
  try {
    const text = readFileSync(path, 'utf8');
    if (text.split('\n').every((line) => /^\s*(#.*|---\s*)?$/.test(line))) return;
    file.loadFromString(text);
    file.makePathsAbsolute(dirname(path));
    users = withUsers.parse(loadYaml(text)).users;
  } catch (error) {
    throw new Error(`Kubeconfig ${path} cannot be read: ${yamlProblemWords(error)}`);
  }
  const isNew = (known: readonly { readonly name: string }[] | undefined) => (each: { readonly name: string }) =>
    known?.some(({ name }) => name === each.name) !== true;
  for (const { name, user } of users.filter(isNew(config.getUsers()))) {
    if (user?.tokenFile) tokenFiles.set(name, resolve(dirname(path), user.tokenFile));
    const field = UNSENT.find((each) => user?.[each] !== undefined && user[each] !== null);
    if (field !== undefined) unsent.set(name, field);
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
