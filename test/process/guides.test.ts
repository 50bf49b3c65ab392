import { globSync, readdirSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { installCrds, openApi } from '../kube/api.ts';
import { adminKubeconfig, kubectl, makeNamespace } from '../support/control-plane.ts';
import { ROOT, readDocument, shellBlocks } from '../support/readme.ts';
import { type UserShell, userShell } from '../support/user-shell.ts';

/* Runs every command of the guides in docs/guides, one after the other, as a reader would. */

/** What the reader of a guide has; and the output that shows that it worked, if any. */
interface Guide {
  readonly before?: string;
  /** The guide creates its own namespaces, with names that are free. Otherwise they exist. */
  readonly namespaces?: readonly string[];
  readonly prints?: readonly RegExp[];
  /** Files and folders that the reader keeps. Nothing else may be left. */
  readonly keeps?: readonly string[];
}

const SPACE = `kubectl apply --filename=deploy/samples/secrets.yaml --filename=deploy/samples/space.yaml
kubectl wait --for=condition=Ready --timeout=1m databasespace/production`;
const CLUSTER = `${SPACE}
kubectl apply --filename=deploy/samples/cluster.yaml --filename=deploy/samples/user.yaml
kubectl wait --for=condition=Ready --timeout=2m databasecluster/orders databaseuser/app`;

const GUIDES: Readonly<Record<string, Guide>> = {
  'getting-started.md': {
    prints: [/databasespace|DatabaseSpace/, /Ada/, /1 row/, /storageSizeGB: 100 → 200/, /destroy cluster "orders"/],
  },
  'adopting.md': {
    prints: [
      /clusterID: legacy|name: legacy/,
      /True +Observed/,
      /! replace the password of the admin user of cluster "legacy"/,
    ],
  },
  'rotation.md': { before: CLUSTER, prints: [/✓ Rotated/, /20\d\d-/] },
  'previews.md': { before: CLUSTER, prints: [/suspended, as the spec says/, /preview-7" deleted/] },
  'tenancy.md': { namespaces: ['guide-platform', 'guide-shop'], prints: [/http:\/\/127\.0\.0\.1:\d+/] },
  'environments.md': {
    before: SPACE,
    keeps: ['environments'],
    prints: [/deploy cluster "stock"/, /"weight": "interrupts"/, /DatabaseCluster \\"stock-staging\\" in namespace/],
  },
  'disaster-recovery.md': { before: CLUSTER, keeps: ['backup'] },
  'upgrading.md': { before: CLUSTER, prints: [/True +Running/] },
};

test('each guide is tried', () => {
  expect(globSync('*.md', { cwd: `${ROOT}/docs/guides` }).toSorted()).toEqual(Object.keys(GUIDES).toSorted());
});

test.each(Object.entries(GUIDES))(
  'docs/guides/%s works as it is written',
  { timeout: 300_000 },
  async (name, guide) => {
    const api = await openApi(adminKubeconfig());
    onTestFinished(() => api.close());
    await installCrds(api);
    const names = guide.namespaces ?? [await makeNamespace(), await makeNamespace()];
    const [platform = '', shop = ''] = names;
    if (guide.namespaces !== undefined)
      onTestFinished(async () => void (await kubectl(['delete', 'namespace', ...names, '--wait=false'])));
    const shell = await userShell(platform);
    onTestFinished(() => shell.end());
    const port = shell.simulatorPort;
    shell.background(
      `bin/mooring simulate --port=${port} --provision-time=200ms --suspend-time=200ms --resume-time=200ms`,
    );
    shell.background(`bin/mooring controller --namespaces=${platform},${shop}`);
    await mustRun(shell, UNTIL_SIMULATED.replaceAll('PORT', String(port)));
    if (guide.before !== undefined) await mustRun(shell, guide.before);
    const before = filesIn(shell);
    const printed: string[] = [];
    for (const { commands, test: how } of shellBlocks(readDocument(`docs/guides/${name}`))) {
      if (how !== 'in order') continue;
      const here = commands
        .replaceAll(/(--namespace=|namespace: )platform\b/g, `$1${platform}`)
        .replaceAll(/(--namespace=|namespace )shop\b/g, `$1${shop}`)
        .replaceAll(/(create namespace )platform\b/g, `$1${platform}`)
        .replaceAll(':7080/', `:${port}/`);
      printed.push(await mustRun(shell, here));
    }
    expect(filesIn(shell)).toEqual([...before, ...(guide.keeps ?? [])].toSorted());
    for (const expected of guide.prints ?? []) expect(printed.join('\n')).toMatch(expected);
  },
);

const UNTIL_SIMULATED =
  'until curl --fail --silent --output /dev/null http://127.0.0.1:PORT/_simulator/counters; do sleep 0.2; done';

function filesIn({ directory }: UserShell): readonly string[] {
  return readdirSync(directory)
    .filter((name) => name !== 'kubectl-cache')
    .toSorted();
}

async function mustRun(shell: UserShell, commands: string): Promise<string> {
  const { code, stdout, stderr } = await shell.run(commands);
  expect(code, `${commands}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}
