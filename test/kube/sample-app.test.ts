import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../../tools/control-plane/run.ts';
import { mustKubectl } from '../support/control-plane.ts';
import { cluster, type Manifest, wholeSpace } from '../support/manifests.ts';
import { type OperatorBench, startBench } from '../support/operator-bench.ts';
import { ROOT } from '../support/readme.ts';

/* The sample application, which knows only the Secret. */

const SAMPLES = join(ROOT, 'deploy/samples');
const SCRIPT = join(SAMPLES, 'app/app.mjs');
/** Parsed by the API server, as when it is applied. */
const sample = (name: string) => load(readFileSync(join(SAMPLES, name), 'utf8')) as Manifest;

let bench: OperatorBench;

beforeAll(async () => {
  bench = await startBench(1);
});

afterAll(() => bench?.close());

interface Job {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly { readonly env: readonly { readonly name: string; readonly value: string }[] }[];
        readonly volumes: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[];
      };
    };
  };
}

/** Runs the script with a Secret's data in files, as from the kubelet. */
async function runWith(data: Readonly<Record<string, string>>, env: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), 'mooring-app-'));
  try {
    mkdirSync(join(root, 'app-connection'));
    for (const [key, value] of Object.entries(data)) writeFileSync(join(root, 'app-connection', key), value);
    return await run(process.execPath, [SCRIPT], { env: { ...env, SERVICE_BINDING_ROOT: root } });
  } finally {
    rmSync(root, { recursive: true });
  }
}

test('signs in and runs its query with the Secret alone, with the password or the next one', async (context) => {
  const site = await bench.site(context);
  await site.apply(...wholeSpace(site.cloud), cluster(), sample('user.yaml'), sample('database.yaml'));
  await site.until('Database', { status: 'True' });
  await site.until('DatabaseUser', { status: 'True' });
  const job = sample('app/job.yaml') as unknown as Job;
  const { containers, volumes } = job.spec.template.spec;
  const environment = Object.fromEntries((containers[0]?.env ?? []).map(({ name, value }) => [name, value]));
  const secretName = volumes.find(({ name }) => name === 'binding')?.secret?.secretName;
  const { data = {} } = (await site.secret(secretName)) ?? {};

  expect(await runWith(data, environment)).toEqual({
    code: 0,
    stdout: '{"customer":"Ada","total":12.5}\n',
    stderr: '',
  });
  const read = { ...environment, TRANSACTION: 'read', QUERY: 'match $o isa order; reduce $count = count;' };
  const { password = '' } = data;
  const rotating = await runWith({ ...data, password: 'the one before', nextPassword: password }, read);
  expect(rotating.stdout).toMatch(/"count":.*1/);
  const outdated = await runWith({ ...data, password: 'the one before' }, read);
  expect(outdated).toMatchObject({ code: 1, stderr: expect.stringContaining('read the Secret again') });
  for (const { stdout, stderr } of [rotating, outdated]) expect(stdout + stderr).not.toContain(password);
});

test('is a Job that the API server accepts, with the script in its ConfigMap', async () => {
  const made = await mustKubectl(['kustomize', join(SAMPLES, 'app')]);
  expect(made).toContain('await signIn(binding)');
  const checked = await mustKubectl(['apply', '--dry-run=server', '--validate=strict', '--filename=-'], {
    input: made,
  });
  expect(checked).toMatch(/configmap\/app-\w+ created(.|\n)*job.batch\/app created/);
});
