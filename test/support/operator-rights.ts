import { type PolicyRule, policyRules } from '../../src/rbac.ts';
import { applyYaml, kubeconfigFor, mustKubectl } from './control-plane.ts';

/** The operator's rules as they are without list and watch on Secrets. */
export const rulesWithoutSecretLists: readonly PolicyRule[] = policyRules
  .map((rule) =>
    rule.resources?.includes('secrets')
      ? { ...rule, verbs: rule.verbs.filter((verb) => verb !== 'list' && verb !== 'watch') }
      : rule,
  )
  .filter(({ verbs }) => verbs.length > 0);

const RBAC = 'rbac.authorization.k8s.io';

/** A service account in the namespace with these rules there, and nothing else. Returns its kubeconfig. */
export async function accountWith(namespace: string, name: string, rules: readonly PolicyRule[]): Promise<string> {
  const metadata = { name, namespace };
  const documents = [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'Role',
      metadata,
      rules: rules.map(({ apiGroups, resources, verbs }) => ({ apiGroups, resources, verbs })),
    },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: RBAC, kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
    },
  ];
  await applyYaml(documents.map((document) => JSON.stringify(document)).join('\n---\n'));
  return kubeconfigFor(metadata);
}

/** Rules of a ClusterRole for the service account; returns what takes them back. */
export async function grantInCluster(
  account: { readonly namespace: string; readonly name: string },
  rules: readonly object[],
): Promise<() => Promise<void>> {
  const metadata = { name: `${account.namespace}-${account.name}` };
  const documents = [
    { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata, rules },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    },
  ];
  await applyYaml(documents.map((document) => JSON.stringify(document)).join('\n---\n'));
  return async () => {
    const names = ['clusterrole', 'clusterrolebinding'].map((kind) => `${kind}/${metadata.name}`);
    await mustKubectl(['delete', ...names]);
  };
}
