import { databaseClusterDefinition } from '../kinds/databasecluster/schema.ts';
import { findStatusCondition } from '../kube/condition.ts';
import { parseStatus } from '../kube/definition.ts';
import type { KubeObject } from '../kube/object.ts';

/**
 * What those who refer to an object look at in its status: whether they can go on, otherwise why they wait, and of a cluster
 * where its server is and how it is signed in to. Kinds that have no such fields have fewer words.
 */
export function wordOf(object: KubeObject | undefined): string | undefined {
  if (object === undefined) return undefined;
  let word = words.get(object);
  if (word === undefined) {
    // Conditions are the same in every kind's status; what else is read here only a cluster has.
    const status = parseStatus(databaseClusterDefinition, object.status);
    const { conditions = [], clusterID, createdAt, endpoint, servers, credentials } = status;
    const seen = ['Ready', 'CredentialsSecured', 'Available'].map((type) => {
      const condition = findStatusCondition(conditions, type);
      return type === 'Ready' ? [condition?.status, condition?.reason] : condition?.status;
    });
    const { endpoint: verifiedAt, secretName } = credentials ?? {};
    word = JSON.stringify([...seen, clusterID, createdAt, endpoint, servers, verifiedAt, secretName]);
    words.set(object, word);
  }
  return word;
}

/** All who hear of one change ask about the same two objects: each is read once for it. */
const words = new WeakMap<KubeObject, string>();
