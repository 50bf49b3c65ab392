import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import * as z from 'zod';
import { run } from '../../../tools/control-plane/run.ts';
import { fileOfProject, type Kubectl } from './cluster-access.ts';

const FOLDER = 'deploy/samples/app';
export const SCRIPT = `${FOLDER}/app.mjs`;
const TIMEOUT_MS = 30_000;

/** What is needed from the Job to act as its pod would. */
const jobSchema = z.object({
  spec: z.object({
    template: z.object({
      spec: z.object({
        containers: z.tuple([z.object({ env: z.array(z.object({ name: z.string(), value: z.string() })) })]),
        volumes: z.array(z.object({ secret: z.object({ secretName: z.string() }).optional() })),
      }),
    }),
  }),
});
const secretSchema = z.object({ data: z.record(z.string(), z.string()) });

/**
 * Runs the script of the sample Job as its pod would, with the Job's environment and the connection Secret as files: there may be no
 * node to run a pod. Resolves to what the script printed; throws what it complained about.
 */
export async function runApplication(
  kubectl: Kubectl,
  namespace: string,
  signal: AbortSignal,
): Promise<{ readonly query: string; readonly answer: string }> {
  const job = jobSchema.parse(load(readFileSync(fileOfProject(`${FOLDER}/job.yaml`), 'utf8')));
  const { containers, volumes } = job.spec.template.spec;
  const environment = Object.fromEntries(containers[0].env.map(({ name, value }) => [name, value]));
  const secretName = volumes.find(({ secret }) => secret !== undefined)?.secret?.secretName ?? '';
  const shown = await kubectl(['get', 'secret', secretName, `--namespace=${namespace}`, '--output=json'], { signal });
  const root = mkdtempSync(join(tmpdir(), 'mooring-bindings-'));
  try {
    mountSecret(join(root, secretName), secretSchema.parse(JSON.parse(shown)).data);
    const env = { ...environment, SERVICE_BINDING_ROOT: root };
    const ended = await run(process.execPath, [fileOfProject(SCRIPT)], { env, timeoutMs: TIMEOUT_MS, signal });
    if (ended.code !== 0) throw new Error(`${SCRIPT} failed: ${ended.stderr.trim()}`);
    return { query: environment['QUERY'] ?? '', answer: ended.stdout };
  } finally {
    rmSync(root, { recursive: true });
  }
}

/** Writes the files as the kubelet does: one for each key, for its owner only. */
function mountSecret(folder: string, data: Readonly<Record<string, string>>): void {
  mkdirSync(folder, { mode: 0o700 });
  for (const [key, value] of Object.entries(data))
    writeFileSync(join(folder, key), Buffer.from(value, 'base64'), { mode: 0o600 });
}
