import { dump } from 'js-yaml';
import { type PolicyRule, policyRules } from '../../src/rbac.ts';
import type { ServiceAccount } from '../../tools/control-plane/control-plane.ts';
import { applyYaml, kubeconfigFor, mustKubectl, waitUntil } from './control-plane.ts';

/** The operator's rules without list and watch on Secrets. */
export const rulesWithoutSecretLists: readonly PolicyRule[] = policyRules
  .map((rule) =>
    rule.resources?.includes('secrets')
      ? { ...rule, verbs: rule.verbs.filter((verb) => verb !== 'list' && verb !== 'watch') }
      : rule,
  )
  .filter(({ verbs }) => verbs.length > 0);

const RBAC = 'rbac.authorization.k8s.io';

/** A rule of a Role or ClusterRole. */
export type Rule = Omit<PolicyRule, 'why' | 'when'>;

/**
 * A service account in the namespace with these rules there and in the other namespaces, and nothing else.
 * Returns the path of its kubeconfig once its rules are in effect.
 */
export async function accountWith(
  namespace: string,
  name: string,
  rules: readonly Rule[],
  others: readonly string[] = [],
): Promise<string> {
  const account = { name, namespace };
  const granted = [namespace, ...others].flatMap((place) => {
    const metadata = { name, namespace: place };
    return [
      {
        apiVersion: `${RBAC}/v1`,
        kind: 'Role',
        metadata,
        rules: rules.map(({ why: _, when: __, ...rule }: Partial<PolicyRule>) => rule),
      },
      {
        apiVersion: `${RBAC}/v1`,
        kind: 'RoleBinding',
        metadata,
        roleRef: { apiGroup: RBAC, kind: 'Role', name },
        subjects: [{ kind: 'ServiceAccount', ...account }],
      },
    ];
  });
  const documents = [{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: account }, ...granted];
  await applyYaml(documents.map((document) => dump(document)).join('---\n'));
  for (const place of [namespace, ...others]) await untilGranted(account, rules, place);
  return kubeconfigFor(account);
}

/** Waits for the API server's authorizer, which watches roles and bindings and sees them only a moment after they are stored. */
async function untilGranted(account: ServiceAccount, rules: readonly Rule[], namespace: string): Promise<void> {
  const rule = rules.at(-1);
  if (rule === undefined) return;
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
  const [verb, group, resource, name, path] = [verbs, apiGroups, resources, resourceNames, nonResourceURLs].map(
    (each) => each?.[0],
  );
  const review = JSON.stringify({
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: {
      user: `system:serviceaccount:${account.namespace}:${account.name}`,
      ...(path === undefined
        ? { resourceAttributes: { namespace, verb, group, resource, name } }
        : { nonResourceAttributes: { verb, path } }),
    },
  });
  const ask = ['create', '--filename=-', '--output=jsonpath={.status.allowed}'];
  const granted = async () => (await mustKubectl(ask, { input: review })) === 'true';
  await waitUntil(granted, { what: `${account.name} to be allowed to ${verb} ${path ?? resource} in ${namespace}` });
}

/** Grants rules of a ClusterRole to the service account; returns a function that revokes them. */
export async function grantInCluster(
  account: { readonly namespace: string; readonly name: string },
  rules: readonly Rule[],
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
  await applyYaml(documents.map((document) => dump(document)).join('---\n'));
  await untilGranted(account, rules, account.namespace);
  return async () => {
    const names = ['clusterrole', 'clusterrolebinding'].map((kind) => `${kind}/${metadata.name}`);
    await mustKubectl(['delete', ...names]);
  };
}
