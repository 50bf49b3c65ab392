import { GROUP } from './base/group.ts';
import { LEADER_LEASE } from './base/lease-names.ts';
import { definitions } from './kinds/definitions.ts';

/** rbac.authorization.k8s.io PolicyRule, with why it is needed. */
export interface PolicyRule {
  readonly why: string;
  /** A template's condition on the chart's values; absent: always. */
  readonly when?: string;
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

const plurals = definitions.map(({ plural }) => plural);

/**
 * Everything that the operator may do in the namespaces it watches. A Role in each of them is enough: even a Namespace is authorized
 * as an object within itself.
 */
export const policyRules: readonly PolicyRule[] = [
  {
    why: 'Read our objects; add and remove finalizers.',
    apiGroups: [GROUP],
    resources: plurals,
    verbs: ['get', 'list', 'watch', 'patch'],
  },
  {
    why: 'Write their status.',
    apiGroups: [GROUP],
    resources: plurals.map((plural) => `${plural}/status`),
    verbs: ['patch'],
  },
  {
    why: 'Read API tokens and logins by name; write and remove logins.',
    apiGroups: [''],
    resources: ['secrets'],
    verbs: ['get', 'create', 'patch', 'delete'],
  },
  {
    why: 'Notice when Secrets change (metadata only).',
    when: 'eq .Values.rbac.secrets "watch"',
    apiGroups: [''],
    resources: ['secrets'],
    verbs: ['list', 'watch'],
  },
  {
    why: 'Read the schema sources of Databases; notice when they change (metadata only).',
    apiGroups: [''],
    resources: ['configmaps'],
    verbs: ['get', 'list', 'watch'],
  },
  { why: 'Read labels, for allowedNamespaces.', apiGroups: [''], resources: ['namespaces'], verbs: ['get'] },
  {
    why: 'Report changes of state; count repetitions.',
    apiGroups: ['events.k8s.io'],
    resources: ['events'],
    verbs: ['create', 'patch'],
  },
];

const LEASE = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] };

/** In the operator's own namespace only. */
export const ownRules: readonly PolicyRule[] = [
  { why: 'Agree with other replicas on who acts (--leader-elect).', ...LEASE, verbs: ['create'] },
  {
    why: 'Renew that Lease; standby replicas watch it, to learn at once when it is given back.',
    ...LEASE,
    resourceNames: [LEADER_LEASE],
    verbs: ['get', 'list', 'watch', 'patch'],
  },
  {
    why: 'Share spaces with other replicas (--shard-by-space).',
    when: '.Values.leaderElection.shardBySpace',
    ...LEASE,
    verbs: ['get', 'list', 'patch', 'delete'],
  },
];

/** In the whole cluster, for --metrics-secure. */
export const reviewRules: readonly PolicyRule[] = [
  {
    why: 'Ask who wants to read the metrics.',
    apiGroups: ['authentication.k8s.io'],
    resources: ['tokenreviews'],
    verbs: ['create'],
  },
  {
    why: 'Ask whether they may.',
    apiGroups: ['authorization.k8s.io'],
    resources: ['subjectaccessreviews'],
    verbs: ['create'],
  },
];

/** For those that scrape the metrics in that case. */
const scrapeRules: readonly PolicyRule[] = [
  { why: 'Read the metrics.', nonResourceURLs: ['/metrics'], verbs: ['get'] },
];

/** For people, aggregated to the cluster's own roles. */
const viewRules: readonly PolicyRule[] = [
  { why: 'Read everything.', apiGroups: [GROUP], resources: plurals, verbs: ['get', 'list', 'watch'] },
];

const editRules: readonly PolicyRule[] = [
  {
    why: 'Change everything except the status.',
    apiGroups: [GROUP],
    resources: plurals,
    verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'],
  },
];

/** Returns the rules as named templates for the chart's roles: the only place with their text. */
export function renderRuleTemplates(): string {
  const templates = { rules: policyRules, leaseRules: ownRules, reviewRules, scrapeRules, viewRules, editRules };
  return Object.entries(templates)
    .map(([name, rules]) => `{{- define "mooring.${name}" -}}\n${rules.map(renderRule).join('')}{{- end }}\n`)
    .join('\n');
}

function renderRule({ why, when, ...rule }: PolicyRule): string {
  const fields = Object.entries(rule).map(([field, words]) => `${field}: [${words.map(quoted).join(', ')}]`);
  const text = `# ${why}\n- ${fields.join('\n  ')}\n`;
  return when === undefined ? text : `{{- if ${when} }}\n${text}{{- end }}\n`;
}

function quoted(word: string): string {
  return word === '' ? "''" : word;
}
