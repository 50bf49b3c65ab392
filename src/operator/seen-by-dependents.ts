import { databaseClusterDefinition } from '../kinds/databasecluster/schema.ts';
import { findStatusCondition } from '../kube/condition.ts';
import { parseStatus } from '../kube/definition.ts';
import type { KubeObject } from '../kube/object.ts';

/**
 * Returns, as one text, the parts of an object's status that objects referring to it look at. While it stays the same, they need not hear
 * of a change. It says whether they can go on, otherwise why they wait, and for a cluster, where its server is and how to sign in to it.
 */
export function seenByDependents(object: KubeObject | undefined): string | undefined {
  if (object === undefined) return undefined;
  let text = texts.get(object);
  if (text === undefined) {
    // Conditions are the same in every kind's status; only a cluster has the other fields read here.
    const status = parseStatus(databaseClusterDefinition, object.status);
    const { conditions = [], state, clusterID, createdAt, endpoint, servers, credentials } = status;
    const seen = ['Ready', 'CredentialsSecured', 'Available'].map((type) => {
      const condition = findStatusCondition(conditions, type);
      return type === 'Ready' ? [condition?.status, condition?.reason] : condition?.status;
    });
    const { endpoint: verifiedAt, secretName } = credentials ?? {};
    text = JSON.stringify([...seen, state, clusterID, createdAt, endpoint, servers, verifiedAt, secretName]);
    texts.set(object, text);
  }
  return text;
}

/** All that hear of one change ask about the same two objects: each is read once for it. */
const texts = new WeakMap<KubeObject, string>();
