import { loadAll } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { anItem } from '../../test/support/items.ts';
import { databaseClusterDefinition } from '../kinds/databasecluster/schema.ts';
import { placeOf } from '../kinds/databasespace/place.ts';
import { parseSpec } from '../kube/definition.ts';
import { clustersAt, exportText } from './export.ts';

const cluster = {
  id: 'old_reports',
  status: 'running',
  createdAt: 1_700_000_000_000,
  version: '3.5.0',
  provider: 'aws',
  region: 'eu-west-2',
  machineType: 'c7g.large',
  storageType: 'gp2',
  storageSizeGB: 50,
  serverCount: 1,
  isFree: false,
  servers: [],
};
const options = { namespace: 'shop', space: { namespace: 'platform', name: 'production' }, unmanagedOnly: false };
const exported = (...args: Parameters<typeof exportText>) =>
  loadAll(exportText(...args)).filter(Boolean) as { metadata: { name: string }; spec: Record<string, unknown> }[];

describe('exportText()', () => {
  it('writes, for a cluster that no object stands for, a valid manifest that only observes it', () => {
    const [manifest] = exported([cluster], [], options);
    expect(manifest).toEqual({
      apiVersion: 'mooring.dev/v1alpha1',
      kind: 'DatabaseCluster',
      metadata: { name: 'old-reports', namespace: 'shop' },
      spec: {
        spaceRef: { name: 'production', namespace: 'platform' },
        clusterID: 'old_reports',
        provider: 'aws',
        region: 'eu-west-2',
        machineType: 'c7g.large',
        storageSizeGB: 50,
        serverCount: 1,
        isFree: false,
        version: '3.5.0',
        state: 'Running',
        adoptionPolicy: 'MustExist',
        managementPolicy: 'Observe',
      },
    });
    expect(parseSpec(databaseClusterDefinition, manifest?.spec).ok).toBe(true);
  });

  it('leaves out what the cloud does not say, and passes on what is not listed', () => {
    const [manifest] = exported([{ ...cluster, machineType: 'new.huge', version: undefined }], [], options);
    expect(manifest?.spec).toMatchObject({ allowUnlisted: true, machineType: 'new.huge' });
    expect(manifest?.spec).not.toHaveProperty('version');
  });

  it('quotes ids that kubectl would read as numbers or as yes and no', () => {
    const ids = ['1e5_0', '1_000', '012', 'on', 'null'];
    const lines = exportText(
      ids.map((id) => ({ ...cluster, id })),
      [],
      options,
    ).split('\n');
    const written = lines.filter((line) => /^ {2}(name|clusterID): /.test(line)).map((line) => line.trim());
    expect(written).toEqual(
      expect.arrayContaining(["clusterID: '1e5_0'", "clusterID: '1_000'", "name: '012'", "name: 'on'", "name: 'null'"]),
    );
  });

  it('keeps a suspended cluster suspended', () => {
    expect(exported([{ ...cluster, status: 'suspended' }], [], options)[0]?.spec['state']).toBe('Suspended');
  });

  it('shows clusters that objects stand for as they are declared, or not at all if that is asked for', () => {
    const spec = {
      spaceRef: { name: 'production', namespace: 'platform' },
      clusterID: 'old_reports',
      version: 'latest',
    };
    const owner = anItem('DatabaseCluster', 'shop/reports', { spec, status: { clusterID: 'old_reports' } });
    expect(exported([cluster], [owner], options)).toMatchObject([{ metadata: { name: 'reports' }, spec }]);
    expect(exportText([cluster], [owner], { ...options, unmanagedOnly: true })).toMatch(/^# Nothing/);
    const text = exportText([cluster, { ...cluster, id: 'b' }], [owner], { ...options, unmanagedOnly: true });
    expect(text).toMatch(/^# Every cluster of the space that has no object, as a manifest/);
    expect(loadAll(text).filter(Boolean)).toHaveLength(1);
  });

  it('says which object names a cluster that is not its own, if only those without one are asked for', () => {
    const spec = { spaceRef: { name: 'production', namespace: 'platform' }, clusterID: 'old_reports' };
    const claimant = anItem('DatabaseCluster', 'shop/claimant', { spec });
    const unmanaged = { ...options, unmanagedOnly: true };
    expect(exportText([cluster], [claimant], unmanaged)).toBe(
      '# Left out, as an object names it and is not in charge of it: cluster "old_reports", DatabaseCluster shop/claimant\n',
    );
    const owner = anItem('DatabaseCluster', 'shop/owner', { spec, status: { clusterID: 'old_reports' } });
    for (const objects of [
      [claimant, owner],
      [owner, claimant],
    ]) {
      expect(exportText([cluster], objects, unmanaged)).toMatch(/^# Nothing/);
      expect(exported([cluster], objects, options)).toMatchObject([{ metadata: { name: 'owner' } }]);
    }
  });

  it('says that a cluster whose id no object can name is left out, and not that there is none', () => {
    const odd = { ...cluster, id: 'Odd\nkind: Secret' };
    const text = exportText([odd, cluster], [], options);
    expect(text).toContain('\n# Left out, as no object can name it: cluster "Odd\\nkind: Secret"\n---\n');
    expect(exported([odd, cluster], [], options)).toHaveLength(1);
    expect(exportText([odd], [], options)).toMatch(/^# Left out.*\n$/);
    expect(exportText([], [], options)).toBe('# Nothing: the space has no clusters.\n');
  });

  it.each(['\u2028', '\u2029', '\u0085', '\r'])('keeps an id within the line that names it: %j', (end) => {
    const odd = { ...cluster, id: `x${end}kind: Secret${end}#` };
    const line = exportText([odd], [], options);
    expect(line).not.toContain(end);
    expect(line).toMatch(/^# Left out.*kind: Secret.*\n$/);
  });

  it('gives a long id a name that the API server accepts', () => {
    const id = `${'a'.repeat(59)}-b`;
    expect(exported([{ ...cluster, id }], [], options)[0]?.metadata.name).toBe('a'.repeat(59));
  });

  it('leaves alone an object that already has the name, as applying would change it', () => {
    const [manifest] = exported([cluster], [], { ...options, taken: ['old-reports', 'other'] });
    expect(manifest).toMatchObject({ metadata: { name: 'old-reports-2' }, spec: { clusterID: 'old_reports' } });
  });

  it('gives no two manifests the same name', () => {
    const ids = ['a_b', 'a-b'].map((id) => ({ ...cluster, id }));
    expect(exported(ids, [], options).map(({ metadata }) => metadata.name)).toEqual(['a-b', 'a-b-2']);
  });
});

describe('clustersAt()', () => {
  it('returns the clusters of every DatabaseSpace that names the same space in the cloud', () => {
    const place = { baseURL: 'https://cloud.example.com', teamID: 'acme', spaceID: 'production' };
    const spaces = [
      anItem('DatabaseSpace', 'platform/production', { spec: place }),
      anItem('DatabaseSpace', 'shop/again', { spec: { ...place, baseURL: 'https://cloud.example.com/' } }),
      anItem('DatabaseSpace', 'shop/staging', { spec: { ...place, spaceID: 'staging' } }),
      anItem('DatabaseSpace', 'shop/broken', { spec: { baseURL: 1 } }),
    ];
    const at = (key: string, spaceRef: object) => anItem('DatabaseCluster', key, { spec: { spaceRef } });
    const clusters = [
      at('shop/one', { name: 'production', namespace: 'platform' }),
      at('shop/two', { name: 'again' }),
      at('shop/three', { name: 'staging' }),
      at('platform/four', { name: 'production' }),
    ];
    const found = clustersAt(placeOf(place), spaces, clusters);
    expect(found.map(({ key }) => key)).toEqual(['shop/one', 'shop/two', 'platform/four']);
  });
});
