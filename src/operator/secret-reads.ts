import { type AnyObject, type KubeApi, SECRETS } from '../kube/api.ts';
import { type ObjectKey, splitKey } from '../kube/object.ts';
import type { Kind, StatusBase } from '../runtime/kind.ts';
import type { Reference } from '../runtime/reference-index.ts';
import type { StoreChange } from '../runtime/store.ts';

/** Secrets as last seen, and who is told when they change: kept up to date by an informer, or by `SecretReads`. */
export interface SecretSource {
  readonly store: { get(key: ObjectKey): AnyObject | undefined };
  onChange(handler: StoreChange<AnyObject>): void;
  hasSynced(): boolean;
}

interface Seen {
  /** Reads are numbered as they begin: the one that began last counts, whichever answer comes last. */
  readonly read: number;
  readonly secret: AnyObject | undefined;
}

/**
 * Secrets for an operator that may neither list nor watch them: those that an object refers to are read by name when a pass
 * of it begins. Only metadata is asked for. A change is seen in the next pass of any object that refers to the Secret.
 */
export class SecretReads implements SecretSource {
  readonly #api: Pick<KubeApi, 'get'>;
  readonly #transform: (object: AnyObject) => AnyObject;
  readonly #seen = new Map<ObjectKey, Seen>();
  readonly #handlers: StoreChange<AnyObject>[] = [];
  #reads = 0;

  constructor(api: Pick<KubeApi, 'get'>, transform: (object: AnyObject) => AnyObject) {
    this.#api = api;
    this.#transform = transform;
  }

  readonly store = { get: (key: ObjectKey) => this.#seen.get(key)?.secret };

  onChange(handler: StoreChange<AnyObject>): void {
    this.#handlers.push(handler);
  }

  /** There is nothing to wait for. */
  hasSynced(): boolean {
    return true;
  }

  /** Reads those of the references that are Secrets. Throws as `KubeApi.get`. */
  async refresh(references: readonly Reference[], signal: AbortSignal): Promise<void> {
    const keys = references.filter((each) => IS_SECRET.test(each)).map((each) => each.slice('secrets/'.length));
    await Promise.all([...new Set(keys)].map((key) => this.#read(key, signal)));
  }

  /** The same kind, whose passes begin with a look at the Secrets that the object refers to. */
  before<Spec, Status extends StatusBase, Observation, Step>(
    kind: Kind<Spec, Status, Observation, Step>,
  ): Kind<Spec, Status, Observation, Step> {
    return {
      ...kind,
      observe: async (subject, signal) => {
        await this.refresh(kind.references(subject), signal);
        return kind.observe(subject, signal);
      },
    };
  }

  async #read(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const read = ++this.#reads;
    const answer = await this.#api.get(SECRETS, splitKey(key), signal, { metadataOnly: true });
    const before = this.#seen.get(key);
    if (before !== undefined && before.read > read) return;
    const secret = answer === undefined ? undefined : this.#transform(answer);
    this.#seen.set(key, { read, secret });
    if (before?.secret?.metadata.resourceVersion === secret?.metadata.resourceVersion) return;
    for (const handler of this.#handlers) handler(key, before?.secret, secret);
  }
}

/** With namespace and name: a field that is not given makes a reference without. */
const IS_SECRET = /^secrets\/[^/]+\/[^/]+$/;
