import { describe, expect, it } from 'vitest';
import { changing, type DatabaseBench, databaseBench, readyBench } from '../../../test/support/database-bench.ts';
import { DATABASE_CLUSTERS } from '../databasecluster/resource.ts';
import { DATABASES } from './resource.ts';

const SCHEMA = { schema: [{ inline: 'define entity person;' }] };

describe('A database whose name a person changed in the status', () => {
  it('is left alone until the name is set back, and reported when the object goes', async () => {
    const bench = await readyBench({ database: { deletionPolicy: 'Delete' } });
    const name = (value: string) =>
      bench.cluster.kube.patch(
        DATABASES,
        { namespace: 'shop', name: 'orders' },
        { status: { name: value } },
        { subresource: 'status' },
      );
    await name('edited');
    await bench.until('False DatabaseExists');
    expect(bench.condition('Ready')?.message).toContain('status.name is "edited"');
    await name('orders');
    await bench.until('True DatabaseReady');
    await name('edited');
    bench.remove();
    await bench.until('gone');
    expect(bench.told).toEqual([expect.stringContaining('status.name is "edited"')]);
    expect(changing(bench)).toEqual([]);
  });
});

describe('A database whose cluster a person removed from the status', () => {
  it('is left alone, with what is known of it, until that is set back, and reported when the object goes', async () => {
    const bench = await readyBench({ database: { ...SCHEMA, deletionPolicy: 'Delete' } });
    const { cluster, name, schemaHash } = bench.status();
    const record = (value: string | null) =>
      bench.cluster.kube.patch(
        DATABASES,
        { namespace: 'shop', name: 'orders' },
        { status: { cluster: value } },
        { subresource: 'status' },
      );
    await record(null);
    await bench.until('False DatabaseExists');
    expect(bench.condition('Ready')?.message).toContain('status.cluster is missing');
    expect(bench.status()).toMatchObject({ name, schemaHash });
    await record(cluster ?? '');
    await bench.until('True DatabaseReady');
    await record(null);
    bench.remove();
    await bench.until('gone');
    expect(bench.told).toEqual([expect.stringContaining('status.cluster is missing')]);
    expect(changing(bench)).toEqual([]);
  });
});

describe('A Database whose cluster shows another creation time for a while because its status was edited', () => {
  const show = ({ cluster }: DatabaseBench, createdAt: string | undefined) =>
    cluster.kube.patch(
      DATABASE_CLUSTERS,
      { namespace: 'shop', name: 'orders' },
      { status: { createdAt } },
      { subresource: 'status' },
    );
  const ANOTHER = '2020-01-01T00:00:00.000Z';

  it('does not forget what it has, and goes on with it', async () => {
    const bench = await readyBench({ database: SCHEMA });
    const { createdAt } = bench.cluster.status();
    const { name, cluster, schemaHash, appliedSchema } = bench.status();
    await show(bench, ANOTHER);
    await bench.until('False DatabaseExists');
    expect(bench.condition('Ready')?.message).toContain(`created ${createdAt}`);
    expect(bench.status()).toMatchObject({ name, cluster, schemaHash, appliedSchema });
    await bench.restart();
    await show(bench, createdAt);
    await bench.until('True DatabaseReady');
    expect(bench.status()).toMatchObject({ name, cluster, schemaHash, appliedSchema });
    expect(changing(bench)).toEqual([]);
  });

  it('does not forget what it was about to create either', async () => {
    const bench = await databaseBench({ database: SCHEMA });
    const { createdAt } = bench.cluster.status();
    const match = { operation: 'createDatabase' };
    bench.cluster.simulator.faults.add({ match, effect: 'lostAnswer', times: 1 });
    while (!bench.databases().includes('orders')) await bench.pass();
    await show(bench, ANOTHER);
    await bench.until('False DatabaseExists');
    await show(bench, createdAt);
    await bench.until('True DatabaseReady');
  });

  it('takes over an existing database if it may, as on another cluster', async () => {
    const bench = await readyBench({ database: { ...SCHEMA, adoptionPolicy: 'IfExists' } });
    await show(bench, ANOTHER);
    await bench.until('True DatabaseReady');
    expect(bench.status().cluster).toBe(ANOTHER);
  });
});
