import type { SecretCache } from '../../src/kinds/secrets.ts';
import { SECRETS } from '../../src/kube/api.ts';
import { keyOf } from '../../src/kube/object.ts';
import type { FakeKube } from '../../src/sandbox/fake-kube.ts';

/** The Secrets as they are now: a cache that is never behind. */
export function secretsOf(kube: FakeKube): SecretCache {
  return {
    get: (key) => kube.all(SECRETS).find((secret) => keyOf(secret) === key),
    withFinalizer: (finalizer) =>
      kube
        .all(SECRETS)
        .filter(({ metadata }) => metadata.finalizers?.includes(finalizer))
        .map(keyOf),
  };
}

/** The `data` of a Secret with these values; null takes a key away in a patch. */
export function encoded<T extends string | Uint8Array | null>(data: Readonly<Record<string, T>>) {
  return Object.fromEntries(
    Object.entries<T>(data).map(([key, value]) => [key, value === null ? null : Buffer.from(value).toString('base64')]),
  );
}
