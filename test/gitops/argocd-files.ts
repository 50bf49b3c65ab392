import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { dump } from 'js-yaml';
import { GROUP } from '../../src/base/group.ts';
import { definitions } from '../../src/kinds/definitions.ts';
import { ROOT } from '../support/readme.ts';
import type { Fixture } from './fixtures.ts';

/*
 * deploy/argocd, as it follows from the scripts for DatabaseCluster and from what the operator writes. Each kind has the
 * same health check; Argo CD wants a copy for each.
 */

export const CUSTOMIZATIONS = `deploy/argocd/resource_customizations/${GROUP}`;
const ORIGINAL = `${CUSTOMIZATIONS}/DatabaseCluster`;
/** Annotations that a kind takes as actions. */
const ANNOTATED: Readonly<Record<string, readonly string[]>> = {
  DatabaseSpace: ['reconcile'],
  DatabaseUser: ['rotate', 'reconcile'],
  Database: ['reconcile'],
};
const BY = '# Written by the tests, `UPDATE_DOCS=1 npm test -- test/gitops`; do not edit.';

/** Path from the project's root → text, for everything that is not written by hand. */
export function argocdFiles(all: readonly Fixture[]): ReadonlyMap<string, string> {
  const scripts = kindScripts();
  const data = customizations(scripts);
  return new Map([
    ...[...scripts].filter(([path]) => !path.startsWith(ORIGINAL)),
    ...healthTests(all),
    ...actionTests(all),
    ['deploy/argocd/argocd-cm.yaml', `${BY}\n${USE}\n${yaml(CONFIG_MAP)}data:\n${indented(data)}`],
    ['charts/mooring/files/argocd/customizations.yaml', `${BY}\n${data}`],
  ]);
}

const USE = `# Merge it into the ConfigMap that Argo CD has; other keys stay as they are:
#   kubectl apply --server-side --field-manager mooring --filename deploy/argocd/argocd-cm.yaml`;

const CONFIG_MAP = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'argocd-cm',
    namespace: 'argocd',
    labels: { 'app.kubernetes.io/name': 'argocd-cm', 'app.kubernetes.io/part-of': 'argocd' },
  },
};

/** Path → text of every script, in Argo CD's own layout. */
function kindScripts(): ReadonlyMap<string, string> {
  const original = (path: string) => readFileSync(join(ROOT, ORIGINAL, path), 'utf8');
  const all = new Map<string, string>();
  for (const { kind } of definitions) {
    const own = kind === 'DatabaseCluster';
    const paths = own
      ? globSync('**/*.lua', { cwd: join(ROOT, ORIGINAL) }).toSorted()
      : ['health.lua', ...(ANNOTATED[kind] ?? []).map((name) => `actions/${name}/action.lua`)];
    for (const path of paths) all.set(`${CUSTOMIZATIONS}/${kind}/${path}`, original(path));
    if (!own) all.set(`${CUSTOMIZATIONS}/${kind}/actions/discovery.lua`, discovery(original, ANNOTATED[kind] ?? []));
  }
  return all;
}

/** The part of the cluster's discovery that is about these actions. */
function discovery(original: (path: string) => string, names: readonly string[]): string {
  const lines = original('actions/discovery.lua').split('\n');
  const wanted = lines.filter((line) => names.some((name) => line.startsWith(`  ${name} = `)));
  const head = wanted.some((line) => line.includes('ends'))
    ? lines.filter((line) => line.startsWith('local ends'))
    : [];
  return [...head, ...(head.length > 0 ? [''] : []), 'return {', ...wanted, '}', ''].join('\n');
}

/** The keys of argocd-cm. */
function customizations(scripts: ReadonlyMap<string, string>): string {
  const entries = definitions.flatMap(({ kind }) => {
    const script = (path: string) => scripts.get(`${CUSTOMIZATIONS}/${kind}/${path}`) ?? '';
    const actions = [...scripts.keys()].filter(
      (path) => path.startsWith(`${CUSTOMIZATIONS}/${kind}/`) && path.endsWith('/action.lua'),
    );
    const names = actions.map((path) => dirname(path).split('/').at(-1) ?? '');
    const definition = {
      'discovery.lua': script('actions/discovery.lua'),
      definitions: names.map((name) => ({ name, 'action.lua': script(`actions/${name}/action.lua`) })),
    };
    return [
      [`resource.customizations.health.${GROUP}_${kind}`, script('health.lua')],
      [`resource.customizations.actions.${GROUP}_${kind}`, yaml(definition)],
    ];
  });
  return yaml(Object.fromEntries(entries));
}

/** health_test.yaml of each kind, and the objects that it names. */
function healthTests(all: readonly Fixture[]): readonly (readonly [string, string])[] {
  return definitions.flatMap(({ kind }) => {
    const own = all.filter((fixture) => fixture.kind === kind);
    const tests = own.map((fixture) => ({
      // Of an object that is being deleted, Argo CD heeds only a `deletionMessage`.
      healthStatus: { status: fixture.argo, [isDeleted(fixture) ? 'deletionMessage' : 'message']: messageOf(fixture) },
      inputPath: `testdata/${fixture.name}.yaml`,
    }));
    const folder = `${CUSTOMIZATIONS}/${kind}`;
    return [
      [`${folder}/health_test.yaml`, yaml({ tests })],
      ...own.map(({ name, object }) => [`${folder}/testdata/${name}.yaml`, yaml(object)] as const),
    ] as const;
  });
}

/** action_test.yaml for changes of the spec; Argo CD's own test cannot know annotations with the time of day. */
function actionTests(all: readonly Fixture[]): readonly (readonly [string, string])[] {
  const folder = `${ORIGINAL}/actions`;
  const cases = [
    { action: 'suspend', from: 'running', state: 'Suspended' },
    { action: 'resume', from: 'suspended', state: 'Running' },
  ];
  const outputs = cases.map(({ action, from, state }) => {
    const object = all.find(({ kind, name }) => kind === 'DatabaseCluster' && name === from)?.object;
    const spec = { ...(object?.['spec'] as object), state };
    return [`${folder}/testdata/${action}.yaml`, yaml({ ...object, spec })] as const;
  });
  const tests = cases.map(({ action, from }) => ({
    action,
    inputPath: `../testdata/${from}.yaml`,
    expectedOutputPath: `testdata/${action}.yaml`,
  }));
  return [[`${folder}/action_test.yaml`, yaml({ actionTests: tests })], ...outputs];
}

/** What else the health check says. */
const isDeleted = ({ object }: Fixture) => 'deletionTimestamp' in object.metadata;

function messageOf({ object, name }: Fixture): string {
  const ready = object.status?.conditions?.find(({ type }) => type === 'Ready');
  return ready === undefined || name === 'changed' ? 'Waiting for Mooring to look at it' : ready.message;
}

function yaml(value: object): string {
  return dump(value, { lineWidth: -1, noRefs: true });
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
