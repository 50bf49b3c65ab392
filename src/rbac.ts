import { dump } from 'js-yaml';
import { GROUP } from './base/group.ts';
import { definitions } from './kinds/definitions.ts';

/** rbac.authorization.k8s.io PolicyRule, with why it is needed. */
export interface PolicyRule {
  readonly why: string;
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const plurals = definitions.map(({ plural }) => plural);

/** All that the operator may do in the namespaces that it watches. */
export const policyRules: readonly PolicyRule[] = [
  {
    why: 'See our objects; put and remove finalizers.',
    apiGroups: [GROUP],
    resources: plurals,
    verbs: ['get', 'list', 'watch', 'patch'],
  },
  {
    why: 'Say how they are.',
    apiGroups: [GROUP],
    resources: plurals.map((plural) => `${plural}/status`),
    verbs: ['patch'],
  },
  {
    why: 'Read API tokens and logins, notice when they change (metadata only), write and remove admin logins.',
    apiGroups: [''],
    resources: ['secrets'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  { why: 'Labels, for allowedNamespaces.', apiGroups: [''], resources: ['namespaces'], verbs: ['get'] },
  { why: 'Tell of changes of state.', apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create'] },
];

/** In its own namespace only. */
export const ownRules: readonly PolicyRule[] = [
  {
    why: 'Agree with other replicas on who acts (--leader-elect).',
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    verbs: ['get', 'create', 'patch'],
  },
];

const NAME = 'mooring';

/** Namespace, ServiceAccount, roles and bindings, as YAML: what the operator needs in a cluster before it can run. */
export function renderRbac(): string {
  const labels = { 'app.kubernetes.io/name': NAME };
  const namespace = `${NAME}-system`;
  const wide = { name: NAME, labels };
  const own = { name: NAME, namespace, labels };
  const subjects = [{ kind: 'ServiceAccount', name: NAME, namespace }];
  const binding = (kind: string, metadata: object, role: string) => ({
    apiVersion: RBAC_VERSION,
    kind,
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: role, name: NAME },
    subjects,
  });
  const documents = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: own },
    { apiVersion: RBAC_VERSION, kind: 'ClusterRole', metadata: wide, rules: policyRules.map(withoutWhy) },
    binding('ClusterRoleBinding', wide, 'ClusterRole'),
    { apiVersion: RBAC_VERSION, kind: 'Role', metadata: own, rules: ownRules.map(withoutWhy) },
    binding('RoleBinding', own, 'Role'),
  ];
  return documents.map((document) => dump(document, { lineWidth: 120, noRefs: true })).join('---\n');
}

const RBAC_VERSION = 'rbac.authorization.k8s.io/v1';

function withoutWhy({ apiGroups, resources, verbs }: PolicyRule): Omit<PolicyRule, 'why'> {
  return { apiGroups, resources, verbs };
}
