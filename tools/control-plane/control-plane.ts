export interface ServiceAccount {
  readonly namespace: string;
  readonly name: string;
}

/** A Kubernetes API server to work against: started here, in Docker, or an existing cluster. */
export interface ControlPlane {
  /** What was chosen, for people to read. */
  readonly origin: string;
  /** A folder that is removed at `stop`. */
  readonly directory: string;
  /** Path of an administrator's kubeconfig, a file in `directory` unless the user named a cluster. */
  readonly kubeconfig: string;
  /** The API server's base URL. */
  readonly server: string;
  /** Path of a matching kubectl. */
  readonly kubectl: string;
  /** The ids of all its running processes, by name; empty after `stop`. */
  pids(): Readonly<Record<string, number>>;
  /** Path of a kubeconfig that uses a new token (24 hours) of this service account, which must exist. */
  kubeconfigFor(account: ServiceAccount): Promise<string>;
  /** Ends only the API server, by default as a crash would, and waits until it is gone. Not for a user's cluster. */
  killApiServer(signal?: NodeJS.Signals): Promise<void>;
  /** Starts the API server again, on the same port with the same data, and waits until it is ready. */
  restartApiServer(): Promise<void>;
  /** Ends everything that was started here and leaves nothing behind. May be called again. */
  stop(): Promise<void>;
}

export type Log = (line: string) => void;
