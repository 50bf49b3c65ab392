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

const NAME = 'mooring';

/** Namespace, ServiceAccount, ClusterRole and binding, as YAML: what the operator needs in a cluster before it can run. */
export function renderRbac(): string {
  const rules = policyRules.map(({ apiGroups, resources, verbs }) => ({ apiGroups, resources, verbs }));
  const labels = { 'app.kubernetes.io/name': NAME };
  const documents = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `${NAME}-system`, labels } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: NAME, namespace: `${NAME}-system`, labels } },
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: NAME, labels }, rules },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: NAME, labels },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: NAME },
      subjects: [{ kind: 'ServiceAccount', name: NAME, namespace: `${NAME}-system` }],
    },
  ];
  return documents.map((document) => dump(document, { lineWidth: 120, noRefs: true })).join('---\n');
}
