import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import {
  AUDIT_POLICY,
  apiServerArguments,
  auditArguments,
  auditPolicyFile,
  controllerManagerArguments,
  etcdArguments,
  etcdProgressFlag,
  etcdSocket,
  servingCertificateFile,
  signingKeyFile,
  tokenFile,
} from './components.ts';
import type { ControlPlane, Log, ServiceAccount } from './control-plane.ts';
import { freePort } from './free-port.ts';
import { Guard, type GuardedProcess } from './guard.ts';
import { serviceAccountKubeconfig, writeKubeconfig } from './kubeconfig.ts';
import { answers, until } from './ready.ts';
import { run } from './run.ts';
import { lastLines, readText } from './tail.ts';

const START_TIMEOUT_MS = 60_000;
const PORT_ATTEMPTS = 5;

const ETCD = 'etcd';
const API_SERVER = 'kube-apiserver';
const CONTROLLER_MANAGER = 'kube-controller-manager';

export interface LocalOptions {
  readonly log: Log;
  readonly signal?: AbortSignal | undefined;
  /** Record each request of a service account in auditFile() of the directory. Default false. */
  readonly audit?: boolean;
  readonly featureGates?: string | undefined;
}

/** Starts the binaries on this machine; resolves when the API server is ready and service accounts can be used. */
export async function startLocal(binaries: Binaries, options: LocalOptions): Promise<ControlPlane> {
  const controlPlane = new LocalControlPlane(binaries, options);
  try {
    await controlPlane.start();
    return controlPlane;
  } catch (error) {
    await controlPlane.stop();
    throw error;
  }
}

class LocalControlPlane implements ControlPlane {
  readonly origin: string;
  readonly kubectl: string;
  readonly kubeconfig: string;
  readonly directory: string;
  readonly #binaries: Binaries;
  readonly #options: LocalOptions;
  readonly #guard = new Guard(tmpdir());
  readonly #token = randomBytes(24).toString('hex');
  /** The components' environment: none of the user's settings (ETCD_NAME, KUBECONFIG, …). */
  readonly #env: NodeJS.ProcessEnv;
  #port = 0;
  #apiServer: GuardedProcess | undefined;
  #stopping = false;

  constructor(binaries: Binaries, options: LocalOptions) {
    this.#binaries = binaries;
    this.#options = options;
    this.origin = binaries.origin;
    this.kubectl = binaries.kubectl;
    this.directory = this.#guard.directory;
    this.kubeconfig = join(this.directory, 'admin.kubeconfig');
    this.#env = { PATH: process.env['PATH'], HOME: this.directory, TMPDIR: this.directory };
  }

  get server(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const key = privateKey.export({ type: 'sec1', format: 'pem' });
    writeFileSync(signingKeyFile(this.directory), key, { mode: 0o600 });
    writeFileSync(auditPolicyFile(this.directory), JSON.stringify(AUDIT_POLICY));
    writeFileSync(tokenFile(this.directory), `${this.#token},admin,admin,"system:masters"\n`, { mode: 0o600 });
    await this.#startEtcd();
    await this.#startApiServerOnFreePort();
    writeKubeconfig(this.kubeconfig, {
      server: this.server,
      certificateAuthorityData: Buffer.from(this.#certificates()).toString('base64'),
      token: this.#token,
    });
    await this.#startControllerManager();
  }

  pids(): Readonly<Record<string, number>> {
    return this.#guard.pids();
  }

  kubeconfigFor(account: ServiceAccount): Promise<string> {
    return serviceAccountKubeconfig(this, account);
  }

  async killApiServer(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#guard.signal(API_SERVER, signal);
    await this.#apiServer?.exited;
    this.#apiServer = undefined;
  }

  async restartApiServer(): Promise<void> {
    await this.killApiServer();
    // In between, an outgoing connection of any process may hold the port for a while.
    for (let attempt = 1; !(await this.#startApiServer()); attempt++) {
      if (attempt === PORT_ATTEMPTS) throw new Error(`Cannot restart kube-apiserver: port ${this.#port} was taken`);
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#guard.stop();
  }

  async #startEtcd(): Promise<void> {
    const { etcd } = this.#binaries;
    const flag = etcdProgressFlag((await run(etcd, ['--help'], { env: this.#env })).stdout);
    const process = await this.#launch(ETCD, etcd, etcdArguments(this.directory, flag));
    await this.#untilReady(ETCD, process, () => existsSync(etcdSocket(this.directory)));
  }

  async #startApiServerOnFreePort(): Promise<void> {
    for (let attempt = 1; attempt <= PORT_ATTEMPTS; attempt++) {
      this.#port = await freePort();
      if (await this.#startApiServer()) return;
    }
    throw new Error(`Cannot start kube-apiserver: ${PORT_ATTEMPTS} free ports in turn were taken before it used them`);
  }

  /** Returns false if another process took its port. */
  async #startApiServer(): Promise<boolean> {
    const args = apiServerArguments(this.directory, this.#port);
    const { audit, featureGates } = this.#options;
    if (audit) args.push(...auditArguments(this.directory));
    if (featureGates !== undefined) args.push(`--feature-gates=${featureGates}`);
    const process = await this.#launch(API_SERVER, this.#binaries.apiServer, args);
    this.#apiServer = process;
    try {
      // The API server creates the namespace itself, shortly after it reports that it is ready.
      await this.#untilReady(API_SERVER, process, () => this.#answers('/readyz'));
      await this.#untilReady(API_SERVER, process, () => this.#answers('/api/v1/namespaces/default'));
      return true;
    } catch (error) {
      if (lastLines(process.log).includes('address already in use')) return false;
      throw error;
    }
  }

  async #startControllerManager(): Promise<void> {
    const { controllerManager } = this.#binaries;
    if (controllerManager === undefined) return;
    const args = controllerManagerArguments(this.directory, this.kubeconfig);
    const process = await this.#launch(CONTROLLER_MANAGER, controllerManager, args);
    const account = '/api/v1/namespaces/default/serviceaccounts/default';
    await this.#untilReady(CONTROLLER_MANAGER, process, () => this.#answers(account));
    void process.exited.then(() => {
      if (!this.#stopping) this.#options.log(`kube-controller-manager ended by itself:\n${lastLines(process.log)}`);
    });
  }

  #launch(name: string, command: string, args: readonly string[]): Promise<GuardedProcess> {
    return this.#guard.start({ name, command, args, env: this.#env });
  }

  #certificates(): string {
    return readText(servingCertificateFile(this.directory));
  }

  #answers(path: string): Promise<boolean> {
    return answers({ url: `${this.server}${path}`, certificates: this.#certificates(), token: this.#token });
  }

  /** Waits for `check`. If the process ends first or time runs out, the error shows the end of its log. */
  async #untilReady(name: string, process: GuardedProcess, check: () => boolean | Promise<boolean>): Promise<void> {
    let ended = false;
    void process.exited.then(() => {
      ended = true;
    });
    const checkWhileAlive = () => {
      if (ended) throw new Error('it ended');
      return check();
    };
    try {
      const { signal } = this.#options;
      await until(checkWhileAlive, { what: 'it is not ready', timeoutMs: START_TIMEOUT_MS, signal });
    } catch (cause) {
      this.#options.signal?.throwIfAborted();
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`Cannot start ${name}: ${reason}. Its last lines:\n${lastLines(process.log)}`, { cause });
    }
  }
}
