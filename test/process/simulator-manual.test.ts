import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, inject, test } from 'vitest';
import { freePort } from '../../tools/control-plane/free-port.ts';
import { run } from '../../tools/control-plane/run.ts';
import { adminKubeconfig, kubectl } from '../support/control-plane.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'manual-'));

afterAll(async () => {
  await kubectl(['delete', 'namespace', 'mooring-ci', '--wait=false', '--ignore-not-found']);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** Returns the manual's code block that begins with this file name, with free ports. */
function block(name: string, ports: ReadonlyMap<string, number>): string {
  const manual = readFileSync(join(ROOT, 'docs/simulator.md'), 'utf8');
  const blocks = [...manual.matchAll(/^```\w+\n(# [\s\S]*?)^```$/gm)].map((match) => match[1] ?? '');
  const found = blocks.find((text) => text.startsWith(`# ${name}`));
  if (found === undefined) throw new Error(`The manual has no block ${name}`);
  return found.replaceAll(/\b(7080|8080|8081)\b/g, (port) => String(ports.get(port)));
}

async function freePorts(): Promise<ReadonlyMap<string, number>> {
  const ports = new Map<string, number>();
  for (const name of ['7080', '8080', '8081']) ports.set(name, await freePort());
  return ports;
}

test('what docs/simulator.md says about manifests in CI works as written', async () => {
  const ports = await freePorts();
  for (const name of ['ci', 'manifests', 'bin']) mkdirSync(join(folder, name));
  for (const name of ['ci/kustomization.yaml', 'ci/test-manifests.sh']) {
    writeFileSync(join(folder, name), block(name, ports));
  }
  // Manifests as in production: another cloud, and nothing about the simulator.
  const sample = (name: string) => readFileSync(join(ROOT, 'deploy/samples', name), 'utf8');
  writeFileSync(
    join(folder, 'manifests/space.yaml'),
    sample('space.yaml')
      .replace(/baseURL: .*/, 'baseURL: https://cloud.example.com')
      .replace(/\n +serverURL: .*/, ''),
  );
  writeFileSync(join(folder, 'manifests/cluster.yaml'), sample('cluster.yaml'));
  writeFileSync(join(folder, 'manifests/kustomization.yaml'), 'resources: [space.yaml, cluster.yaml]\n');
  symlinkSync(inject('controlPlane').kubectl, join(folder, 'bin/kubectl'));

  const env = {
    ...process.env,
    KUBECONFIG: adminKubeconfig(),
    MOORING: join(ROOT, 'bin/mooring'),
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
  };
  // The first run leaves nothing behind that would disturb the second.
  for (let time = 1; time <= 2; time++) {
    const { code, stdout, stderr } = await run('sh', ['ci/test-manifests.sh'], { cwd: folder, env });
    const logs = readdirSync(folder)
      .filter((name) => name.endsWith('.log'))
      .map((name) => readFileSync(join(folder, name), 'utf8').slice(-2_000));
    expect(code, [time, stdout, stderr, ...logs].join('\n')).toBe(0);
  }
  expect((await kubectl(['get', 'namespace', 'mooring-ci'])).stderr).toContain('not found');
  const { teams, counters } = JSON.parse(readFileSync(join(folder, 'simulator.json'), 'utf8')) as {
    teams: { spaces: { clusters: { id: string; storageSizeGB: number }[] }[] }[];
    counters: { byCluster: Record<string, Record<string, number>> };
  };
  expect(teams[0]?.spaces[0]?.clusters).toMatchObject([{ id: 'orders', storageSizeGB: 200 }]);
  expect(counters.byCluster['orders']).toMatchObject({ deploy: 1, update: 4 });
}, 180_000);
