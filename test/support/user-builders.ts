import { GROUP } from '../../src/base/group.ts';
import type { TriedLogin, UserSeen, UserSubject } from '../../src/kinds/databaseuser/observation.ts';
import { USER_FINALIZER } from '../../src/kinds/databaseuser/resource.ts';
import { databaseUserDefinition } from '../../src/kinds/databaseuser/schema.ts';
import type { Condition } from '../../src/kube/condition.ts';
import { CREATED_AT, ENDPOINT, METADATA } from './builders.ts';

/* Starting points for tests of decisions about users; a test names only what it is about. */

export class UserBuilder {
  readonly subject: UserSubject;

  constructor(subject: UserSubject) {
    this.subject = subject;
  }

  #but(changes: Partial<UserSubject>): UserBuilder {
    return new UserBuilder({ ...this.subject, ...changes });
  }

  /** Sets fields of the spec, as in a manifest. */
  with(spec: Readonly<Record<string, unknown>>): UserBuilder {
    return this.#but({ spec: databaseUserDefinition.spec.parse({ ...this.subject.spec, ...spec }) });
  }

  named(name: string): UserBuilder {
    return this.#but({ key: `shop/${name}`, metadata: { ...this.subject.metadata, name } });
  }

  withStatus(status: Partial<UserSubject['status']>): UserBuilder {
    return this.#but({ status: { ...this.subject.status, ...status } });
  }

  withReady(status: Condition['status'], reason: string): UserBuilder {
    const condition = {
      type: 'Ready',
      status,
      reason,
      message: 'As before',
      observedGeneration: 1,
      lastTransitionTime: '2026-11-20T11:00:00Z',
    };
    return this.withStatus({ observedGeneration: 1, conditions: [condition] });
  }

  /** The user on the server is known to be this object's, as when it was last verified. */
  owned(): UserBuilder {
    return this.#but({ metadata: { ...this.subject.metadata, finalizers: [USER_FINALIZER] } })
      .withReady('True', 'LoginWorks')
      .withStatus({
        username: 'app',
        binding: { name: 'app-connection' },
        lastRotation: '2026-11-20T11:00:00Z',
        connection: {
          cluster: CREATED_AT,
          endpoint: ENDPOINT,
          addresses: 'orders.test:443',
          secretName: 'app-connection',
          secretResourceVersion: '5',
        },
      });
  }

  deleting(): UserBuilder {
    const metadata = { ...this.subject.metadata, deletionTimestamp: '2026-11-20T11:59:00Z' };
    return this.#but({ metadata, deleting: true });
  }

  annotated(name: string, value: string): UserBuilder {
    const annotations = { ...this.subject.metadata.annotations, [`${GROUP}/${name}`]: value };
    return this.#but({ metadata: { ...this.subject.metadata, annotations } });
  }
}

/** `shop/app` on cluster `shop/orders`, new. */
export function aUser(): UserBuilder {
  return new UserBuilder({
    key: 'shop/app',
    metadata: { ...METADATA, name: 'app', uid: 'e7c1b0de-0000-4000-8000-000000000003' },
    spec: databaseUserDefinition.spec.parse({ clusterRef: { name: 'orders' } }),
    status: { observedGeneration: -1 },
    deleting: false,
    lookNow: false,
  });
}

/** The server of cluster `orders` can be used. */
export function aServerSeen(login: UserSeen['login'], claimedBy?: string): UserSeen {
  const address = 'orders.test:443';
  const at = { clusterName: 'orders', identity: CREATED_AT, endpoint: ENDPOINT, address, addresses: address };
  return { server: 'open', at, claimedBy, login };
}

/** The Secret's password was tried, and works. */
export function triedLogin(found: Partial<TriedLogin> = {}): TriedLogin {
  return {
    login: 'tried',
    secretVersion: '5',
    hasCurrent: true,
    hasNext: false,
    isNextForeign: false,
    isOwn: false,
    isFactory: false,
    works: 'current',
    exists: true,
    isUnsent: false,
    isAwaited: false,
    isCreated: false,
    hasLostPassword: false,
    asVerified: true,
    content: 'asWanted',
    previous: [],
    source: { is: 'generated' },
    verifyInMs: 600_000,
    ...found,
  };
}
