import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, onTestFinished, test } from 'vitest';
import { lintWorkflows } from '../../../tools/actionlint/actionlint.ts';
import { run } from '../../../tools/control-plane/run.ts';
import { FakeCommands } from '../../support/fake-commands.ts';
import { ROOT } from '../../support/readme.ts';

const KIND = join(ROOT, 'test/kind/run');

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[]; readonly 'timeout-minutes'?: number }>>;
}

const workflows = globSync('.github/workflows/*.yml', { cwd: ROOT });
const jobsOf = (path: string) => Object.values((load(readFileSync(join(ROOT, path), 'utf8')) as Workflow).jobs);

describe('workflows', () => {
  test('are right as far as can be said without GitHub', async () => {
    expect(workflows.length).toBeGreaterThan(0);
    expect(await lintWorkflows(workflows.map((path) => join(ROOT, path)))).toBe('');
  }, 180_000);

  test('a mistake in one would be found', async () => {
    const fakes = new FakeCommands();
    onTestFinished(() => fakes.remove());
    const path = fakes.add('wrong.yml', '');
    expect(await lintWorkflows([path])).toMatch(/wrong\.yml:\d+:\d+: /);
  }, 180_000);

  test.each(workflows)('%s may read by default, ends in time, and trusts GitHub’s own actions only', (path) => {
    const { permissions } = load(readFileSync(join(ROOT, path), 'utf8')) as Workflow;
    expect(permissions).toEqual({ contents: 'read' });
    expect(jobsOf(path).filter((job) => job['timeout-minutes'] === undefined)).toEqual([]);
    const actions = jobsOf(path).flatMap(({ steps }) =>
      steps.flatMap(({ uses = 'none' }) => (uses === 'none' ? [] : [uses])),
    );
    expect(actions.filter((action) => !/^actions\/[a-z-]+@v\d+$/.test(action))).toEqual([]);
  });

  test.each(workflows)('%s has scripts that bash can read', (path) => {
    for (const { run: script = '' } of jobsOf(path).flatMap(({ steps }) => steps)) {
      // Expressions of GitHub are not for bash.
      expect(script).not.toContain('${{');
      execFileSync('bash', ['-n'], { input: script });
    }
  });

  test('the release builds with arguments that the Dockerfile has', () => {
    const scripts = jobsOf('.github/workflows/release.yml').flatMap(({ steps }) =>
      steps.map(({ run: script = '' }) => script),
    );
    const given = scripts.flatMap((script) => [...script.matchAll(/--build-arg "(\w+)=/g)].map(([, name]) => name));
    const args = [...readFileSync(join(ROOT, 'Dockerfile'), 'utf8').matchAll(/^ARG (\w+)=/gm)].map(([, name]) => name);
    expect(given.toSorted()).toEqual(args.toSorted());
  });
});

describe('test/kind/run', () => {
  /** The script with commands that only note how they were called; `broken` fails. */
  async function rehearse(broken = 'none', env: Readonly<Record<string, string>> = {}) {
    const fakes = new FakeCommands();
    onTestFinished(() => fakes.remove());
    for (const name of ['docker', 'kind', 'kubectl', 'helm']) {
      const file = name === 'kind' ? 'case "$*" in "create cluster"*) echo x > "$KUBECONFIG";; esac\n' : '';
      fakes.add(name, `${file}case "${name} $*" in ${broken}*) exit 1;; esac`);
    }
    const PATH = `${fakes.env['PATH']}:/usr/bin:/bin`;
    const result = await run('bash', [KIND], { env: { ...fakes.env, PATH, ...env } });
    return { ...result, calls: fakes.calls() };
  }

  test('builds, installs, applies the samples, waits, upgrades and uninstalls, and leaves nothing behind', async () => {
    const { code, calls, stdout } = await rehearse();
    expect(code).toBe(0);
    expect(stdout).toContain('All is well');
    const order = [
      /^docker build --tag mooring:e2e \.$/,
      /^kind create cluster --name mooring-e2e --kubeconfig \S+ --wait/,
      /^kind load docker-image --name mooring-e2e mooring:e2e$/,
      /^kubectl label namespace mooring-system pod-security.kubernetes.io\/enforce=restricted$/,
      /^helm upgrade --install mooring charts\/mooring --namespace mooring-system --values \S+ --wait/,
      /^helm test mooring/,
      /^kubectl apply .*deploy\/samples\/secrets\.yaml .*space\.yaml .*cluster\.yaml$/,
      /^kubectl wait --for=condition=Ready .*databasespace\/production$/,
      /^kubectl wait --for=condition=Ready .*databasecluster\/orders$/,
      /^helm upgrade .*--set log\.level=debug$/,
      /^helm uninstall mooring/,
      /^kubectl get databasecluster\/orders secret\/orders-admin$/,
      /^kind delete cluster --name mooring-e2e$/,
    ];
    let at = 0;
    for (const pattern of order) {
      const found = calls.findIndex((call, index) => index >= at && pattern.test(call));
      expect(found, `${pattern} after ${calls[at - 1]}`).toBeGreaterThanOrEqual(at);
      at = found + 1;
    }
    expect(calls.at(-1)).toBe('kind delete cluster --name mooring-e2e');
  });

  test('shows what the cluster says when something fails, deletes it, and fails', async () => {
    const { code, calls, stdout } = await rehearse('"kubectl wait"');
    expect(code).toBe(1);
    expect(stdout).toContain('It failed');
    expect(calls.filter((call) => call.startsWith('kubectl logs'))).toHaveLength(1);
    expect(calls.at(-1)).toBe('kind delete cluster --name mooring-e2e');
  });

  test('keeps the cluster where that is wished', async () => {
    const { calls, stdout } = await rehearse('none', { KEEP: '1' });
    expect(calls.filter((call) => call.startsWith('kind delete'))).toEqual([]);
    expect(stdout).toMatch(/export KUBECONFIG=\S+; kind delete cluster --name mooring-e2e/);
    execFileSync('rm', ['-rf', /KUBECONFIG=(\S+)\/kubeconfig/.exec(stdout)?.[1] ?? '/nowhere']);
  });

  test('says what is missing before it begins', async () => {
    const { code, stderr, calls } = await rehearse('"docker info"');
    expect([code, stderr.trim()]).toEqual([1, 'Docker does not answer: start it first']);
    expect(calls).toEqual(['docker info']);
  });

  test('names samples, objects and values that there are', () => {
    const script = readFileSync(KIND, 'utf8');
    const samples = [...script.matchAll(/deploy\/samples\/\S+/g)].map(([path]) => path);
    for (const path of samples.filter((one) => one.endsWith('.yaml')))
      expect(globSync(path, { cwd: ROOT })).toEqual([path]);
    expect(readFileSync(join(ROOT, 'deploy/samples/space.yaml'), 'utf8')).toMatch(
      /name: production[\s\S]*http:\/\/127\.0\.0\.1:7080/,
    );
    expect(readFileSync(join(ROOT, 'deploy/samples/cluster.yaml'), 'utf8')).toContain('name: orders');
    const values = load(readFileSync(join(ROOT, 'charts/mooring/values.yaml'), 'utf8')) as Readonly<
      Record<string, unknown>
    >;
    const given = /<<VALUES\n([\s\S]*?)\nVALUES/.exec(script)?.[1] ?? '';
    const names = [...given.matchAll(/^(\w+):/gm)].map(([, name = '']) => name);
    expect(names).toContain('extraContainers');
    expect(names.filter((name) => !Object.hasOwn(values, name))).toEqual([]);
  });
});
