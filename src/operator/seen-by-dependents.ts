import { databaseClusterDefinition } from '../kinds/databasecluster/schema.ts';
import { findStatusCondition } from '../kube/condition.ts';
import { parseStatus } from '../kube/definition.ts';
import type { KubeObject } from '../kube/object.ts';

/**
 * What those who refer to an object look at in its status, as one text: while it stays the same they need not hear of a change. That is
 * whether they can go on, otherwise why they wait, and of a cluster where its server is and how it is signed in to.
 */
export function seenByDependents(object: KubeObject | undefined): string | undefined {
  if (object === undefined) return undefined;
  let text = texts.get(object);
  if (text === undefined) {
    // Conditions are the same in every kind's status; what else is read here only a cluster has.
    const status = parseStatus(databaseClusterDefinition, object.status);
    const { conditions = [], clusterID, createdAt, endpoint, servers, credentials } = status;
    const seen = ['Ready', 'CredentialsSecured', 'Available'].map((type) => {
      const condition = findStatusCondition(conditions, type);
      return type === 'Ready' ? [condition?.status, condition?.reason] : condition?.status;
    });
    const { endpoint: verifiedAt, secretName } = credentials ?? {};
    text = JSON.stringify([...seen, clusterID, createdAt, endpoint, servers, verifiedAt, secretName]);
    texts.set(object, text);
  }
  return text;
}

/** All who hear of one change ask about the same two objects: each is read once for it. */
const texts = new WeakMap<KubeObject, string>();
