import type { Reference } from '../base/collections/reference-index.ts';
import { type AnyObject, type KubeApi, SECRETS } from '../kube/api.ts';
import { type ObjectKey, splitKey } from '../kube/object.ts';
import type { Kind, StatusBase } from '../runtime/kind.ts';
import type { StoreChange } from '../runtime/store.ts';

/** Secrets as last seen, with handlers for changes. Kept up to date by an informer, or by `SecretReads`. */
export interface SecretSource {
  readonly store: { get(key: ObjectKey): AnyObject | undefined };
  onChange(handler: StoreChange<AnyObject>): void;
  /** Like Informer.applyOwnWrite. */
  applyOwnWrite?(answer: AnyObject): void;
}

interface Seen {
  /** Reads are numbered as they begin: the one that began last counts, whichever answer comes last. */
  readonly read: number;
  readonly secret: AnyObject | undefined;
}

/**
 * Secrets for an operator that may neither list nor watch them: when a pass of an object begins, the Secrets that it refers to are read
 * by name. Only metadata is asked for. A change is seen in the next pass of any object that refers to the Secret.
 */
export class SecretReads implements SecretSource {
  readonly #api: Pick<KubeApi, 'get'>;
  readonly #transform: (object: AnyObject) => AnyObject;
  readonly #seen = new Map<ObjectKey, Seen>();
  /** How many objects use each Secret. */
  readonly #uses = new Map<ObjectKey, number>();
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

  /** Returns the same kind with passes that first read the Secrets that the object refers to. */
  before<Spec, Status extends StatusBase, Observation, Step>(
    kind: Kind<Spec, Status, Observation, Step>,
  ): Kind<Spec, Status, Observation, Step> {
    const used = new Map<ObjectKey, ReadonlySet<ObjectKey>>();
    const use = (object: ObjectKey, secrets: ReadonlySet<ObjectKey>) => {
      const before = used.get(object) ?? NONE;
      if (secrets.size === 0) used.delete(object);
      else used.set(object, secrets);
      for (const secret of secrets) this.#uses.set(secret, (this.#uses.get(secret) ?? 0) + 1);
      for (const secret of before) this.#leave(secret);
    };
    return {
      ...kind,
      observe: async (subject, signal) => {
        const secrets = secretsIn(kind.references(subject));
        use(subject.key, secrets);
        await Promise.all([...secrets].map((key) => this.#read(key, signal)));
        return kind.observe(subject, signal);
      },
      forget: (key, why) => {
        use(key, NONE);
        kind.forget(key, why);
      },
    };
  }

  /** One object fewer uses the Secret; when none does, it is forgotten. */
  #leave(key: ObjectKey): void {
    const uses = (this.#uses.get(key) ?? 0) - 1;
    if (uses > 0) {
      this.#uses.set(key, uses);
      return;
    }
    this.#uses.delete(key);
    const secret = this.#seen.get(key)?.secret;
    this.#seen.delete(key);
    if (secret !== undefined) this.#tell(key, secret, undefined);
  }

  #tell(key: ObjectKey, before: AnyObject | undefined, after: AnyObject | undefined): void {
    for (const handler of this.#handlers) handler(key, before, after);
  }

  async #read(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const read = ++this.#reads;
    const answer = await this.#api.get(SECRETS, splitKey(key), signal, { metadataOnly: true });
    const before = this.#seen.get(key);
    if ((before !== undefined && before.read > read) || !this.#uses.has(key)) return;
    const secret = answer === undefined ? undefined : this.#transform(answer);
    this.#seen.set(key, { read, secret });
    if (before?.secret?.metadata.resourceVersion === secret?.metadata.resourceVersion) return;
    this.#tell(key, before?.secret, secret);
  }
}

const NONE: ReadonlySet<ObjectKey> = new Set();
/** With namespace and name: a read without a name would be a list. */
const IS_SECRET = /^secrets\/[^/]+\/[^/]+$/;

function secretsIn(references: readonly Reference[]): ReadonlySet<ObjectKey> {
  return new Set(references.filter((each) => IS_SECRET.test(each)).map((each) => each.slice('secrets/'.length)));
}
