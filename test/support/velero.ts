import { load } from 'js-yaml';
import * as z from 'zod';
import { GROUP } from '../../src/base/group.ts';
import { isRecord } from '../../src/base/is-record.ts';
import { definitions } from '../../src/kinds/definitions.ts';
import { type Api, collectionPath } from '../kube/api.ts';
import { mustKubectl } from './control-plane.ts';
import { readDocument } from './readme.ts';

/*
 * The requests that Velero makes when it restores into another namespace, after pkg/restore/restore.go of velero-io/velero
 * (1.16 to 1.19): it drops what resetMetadata() names, keeps labels, annotations and finalizers, adds two labels, creates the
 * object without its status, then sets the status if told to, whatever was written meanwhile, and patches managedFields.
 * test/integration/velero compares this with Velero itself, which takes long to build.
 */

/** An object as it is in a backup. */
export interface Saved {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly [field: string]: unknown;
  };
  readonly status?: unknown;
  readonly [field: string]: unknown;
}

export interface Restore {
  /** `--status-include-resources` names all our kinds. */
  readonly withStatus?: boolean;
  /** `--resource-modifier-configmap`. */
  readonly rules?: readonly ModifierRule[];
  /** Runs when an object of this kind was created, and has no status yet. */
  readonly onCreated?: (kind: string) => Promise<void>;
}

const rulesSchema = z.array(
  z.strictObject({
    conditions: z.strictObject({ groupResource: z.string(), namespaces: z.tuple([z.literal('shop')]) }),
    mergePatches: z.array(z.strictObject({ patchData: z.string() })),
  }),
);
export type ModifierRule = z.infer<typeof rulesSchema>[number];

/** The guide's files with rules, for a restore with status and for one without. */
export function modifierFiles(): readonly string[] {
  const text = readDocument('docs/guides/disaster-recovery.md');
  return [...text.matchAll(/```yaml\n(# modifiers\.yaml(?:,.*)?\n[\s\S]*?)```/g)].map(([, file = '']) => file);
}

/** The guide's rules, for a restore with status and for one without. */
export function rulesOfGuide(): {
  readonly withStatus: readonly ModifierRule[];
  readonly without: readonly ModifierRule[];
} {
  const [withStatus, without] = modifierFiles().map((text) => load(text));
  const file = z.strictObject({ version: z.literal('v1'), resourceModifierRules: rulesSchema });
  return {
    withStatus: file.parse(withStatus).resourceModifierRules,
    without: file.parse(without).resourceModifierRules,
  };
}

/** Applies rules in all namespaces, since those of tests have other names than the guide's. */
function modified(object: Saved, rules: readonly ModifierRule[]): Saved {
  const definition = definitions.find(({ kind }) => kind === object.kind);
  const resource = definition === undefined ? 'secrets' : `${definition.plural}.${GROUP}`;
  const patches = rules.flatMap(({ conditions, mergePatches }) =>
    conditions.groupResource === resource ? mergePatches : [],
  );
  return patches.reduce((whole, { patchData }) => merged(whole, JSON.parse(patchData)) as Saved, object);
}

/** Applies a JSON merge patch (RFC 7386). */
function merged(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = { ...(isRecord(target) ? target : {}) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}

/** The fields that `resetMetadata` drops. */
const DROPPED = [
  ...['generateName', 'selfLink', 'uid', 'resourceVersion', 'generation', 'creationTimestamp', 'deletionTimestamp'],
  ...['deletionGracePeriodSeconds', 'ownerReferences'],
];
const LABELS = { 'velero.io/backup-name': 'nightly', 'velero.io/restore-name': 'nightly-1' };

function pathOf(kind: string, namespace: string): string {
  return kind === 'Secret' ? `/api/v1/namespaces/${namespace}/secrets` : collectionPath(kind, namespace);
}

/** All Secrets and objects of ours in the namespace, in the order in which Velero restores them: Secrets, then by resource. */
export async function veleroBackup(api: Api, namespace: string): Promise<readonly Saved[]> {
  const kinds = definitions.toSorted((a, b) => (a.plural < b.plural ? -1 : 1)).map(({ kind }) => kind);
  const saved: Saved[] = [];
  for (const kind of ['Secret', ...kinds]) {
    const { body } = await api.send('GET', pathOf(kind, namespace));
    const { apiVersion, items } = body as { apiVersion: string; items: readonly Saved[] };
    saved.push(...items.map((item) => ({ ...item, apiVersion, kind })));
  }
  return saved;
}

export async function veleroRestore(
  api: Api,
  namespace: string,
  backup: readonly Saved[],
  { withStatus = false, rules = [], onCreated }: Restore = {},
  kubectl: (args: readonly string[]) => Promise<string> = mustKubectl,
): Promise<void> {
  const send: Api['send'] = async (...request) => {
    const answer = await api.send(...request);
    if (answer.status >= 300) throw new Error(`${request[0]} ${request[1]}: ${answer.causes.join('; ')}`);
    return answer;
  };
  for (const { status, ...saved } of backup) {
    const { metadata, ...rest } = modified(saved as Saved, rules);
    const { managedFields, ...others } = metadata;
    const kept = Object.fromEntries(Object.entries(others).filter(([field]) => !DROPPED.includes(field)));
    const object = { ...rest, metadata: { ...kept, namespace, labels: { ...metadata.labels, ...LABELS } } };
    const path = pathOf(saved.kind, namespace);
    const { body } = await send('POST', path, object);
    await onCreated?.(saved.kind);
    if (withStatus && status !== undefined) await putStatus(api, `${path}/${metadata.name}`, body as Saved, status);
    const patch = JSON.stringify({ metadata: { managedFields } });
    const what = [saved.kind.toLowerCase(), metadata.name, `--namespace=${namespace}`];
    await kubectl(['patch', ...what, '--type=merge', `--patch=${patch}`]);
  }
}

/** Puts the status over what anybody has written since: after a conflict, with the newest version. */
async function putStatus(api: Api, path: string, created: Saved, status: unknown): Promise<void> {
  const ATTEMPTS = 5;
  let newest = created;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const { resourceVersion } = newest.metadata;
    const whole = { ...created, metadata: { ...created.metadata, resourceVersion }, status };
    const answer = await api.send('PUT', `${path}/status`, whole);
    if (answer.status < 300) return;
    if (answer.status !== 409) throw new Error(`PUT ${path}/status: ${answer.causes.join('; ')}`);
    newest = (await api.send('GET', path)).body as Saved;
  }
}
