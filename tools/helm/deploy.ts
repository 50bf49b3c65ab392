import { join } from 'node:path';
import { run } from '../control-plane/run.ts';

const NAMESPACE = 'mooring-system';
/** What only Helm needs: its test, its labels, and the mark of what it may not remove. */
const SETTINGS = ['tests.enabled=false', 'crds.keep=false'];
const OF_HELM = /^ *(helm\.sh\/chart|app\.kubernetes\.io\/managed-by): .*\n/gm;

/** Which of the chart's templates go into which file of the base, in the order in which they are applied. */
const FILES: Readonly<Record<string, RegExp>> = {
  'crds.yaml': /^crds\//,
  'rbac.yaml': /^(serviceaccount|rbac)\.yaml$/,
  'roles-for-people.yaml': /^aggregated-roles\.yaml$/,
  'operator.yaml': /^(service|deployment)\.yaml$/,
};

const NAMESPACE_MANIFEST = `---
apiVersion: v1
kind: Namespace
metadata:
  name: ${NAMESPACE}
  labels:
    app.kubernetes.io/name: mooring
    app.kubernetes.io/part-of: mooring
    pod-security.kubernetes.io/enforce: restricted
`;

const KUSTOMIZATION = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: ${NAMESPACE}
resources:
${['namespace.yaml', ...Object.keys(FILES)].map((name) => `  - ${name}\n`).join('')}`;

/** Path from the project's root → text: what the chart renders with its defaults, for people who do not use Helm. */
export async function deployFiles(helm: string, root: string, by: string): Promise<ReadonlyMap<string, string>> {
  const chart = join(root, 'charts/mooring');
  const args = ['template', 'mooring', chart, `--namespace=${NAMESPACE}`, ...SETTINGS.map((set) => `--set=${set}`)];
  const { code, stdout, stderr } = await run(helm, args);
  if (code !== 0) throw new Error(`helm template failed: ${stderr.trim()}`);
  const documents = stdout
    .replaceAll(OF_HELM, '')
    .split(/^---\n/m)
    .map((text) => /^# Source: mooring\/templates\/(?<source>.+)\n(?<text>[\s\S]+)$/.exec(text)?.groups)
    .map((found) => ({ source: found?.['source'] ?? '', text: `---\n${found?.['text']?.trim()}\n` }))
    .filter(({ source }) => source !== '');
  const files = Object.entries(FILES).map(([name, sources]): [string, string] => [
    name,
    documents.flatMap(({ source, text }) => (sources.test(source) ? [text] : [])).join(''),
  ]);
  const left = documents.filter(({ source }) => !Object.values(FILES).some((sources) => sources.test(source)));
  if (left.length > 0) throw new Error(`No file of deploy/base is for ${left.map(({ source }) => source).join(', ')}`);
  const all = [['namespace.yaml', NAMESPACE_MANIFEST], ...files] as const;
  return new Map([
    ['deploy/base/kustomization.yaml', `# ${by}\n${KUSTOMIZATION}`],
    ...all.map(([name, text]): [string, string] => [`deploy/base/${name}`, `# ${by}\n${text}`]),
    ['deploy/install.yaml', `# ${by}\n${all.map(([, text]) => text).join('')}`],
  ]);
}
