import { expect, test } from 'vitest';
import { clusterSchema, versionsSchema } from './schema.ts';

const least = { id: 'orders', status: 'running' };

test('clusterSchema reads a whole cluster and drops what it does not know', () => {
  const cluster = {
    ...least,
    createdAt: 1_700_000_000_000,
    version: '3.5.0',
    provider: 'aws',
    region: 'eu-west-2',
    machineType: 'c7g.large',
    storageType: 'gp2',
    storageSizeGB: 10,
    serverCount: 1,
    isFree: true,
    servers: [{ address: 'a.example.com:443', status: 'running' }],
  };
  const server = { ...cluster.servers[0], zone: 'b' };
  const answer = { ...cluster, servers: [server], teamID: 't', spaceID: 's', organization: 'o', project: 'p', new: {} };
  expect(clusterSchema.parse(answer)).toEqual(cluster);
});

test.each([
  [{}, []],
  [{ servers: null }, []],
  [{ servers: [] }, []],
  [{ servers: [{ address: 'a:1', status: null }] }, [{ address: 'a:1', status: 'unknown' }]],
  [{ servers: [{ address: null, status: 'pending' }, { status: 'pending' }, { address: '', status: 'pending' }] }, []],
])('clusterSchema reads the servers of %j', (fields, servers) => {
  expect(clusterSchema.parse({ ...least, ...fields }).servers).toEqual(servers);
});

test('clusterSchema treats null as absent and keeps words that it does not know', () => {
  const nulls = { createdAt: null, version: null, isFree: null, storageSizeGB: null };
  expect(clusterSchema.parse({ ...least, status: 'upgrading', provider: 'moon', ...nulls })).toMatchObject({
    status: 'upgrading',
    provider: 'moon',
    createdAt: undefined,
    isFree: undefined,
  });
});

// A cluster about which nothing is known must not hide all others of its space.
test.each([{}, { status: null }, { status: '' }])('clusterSchema reads %j as a status that nobody knows', (fields) => {
  expect(clusterSchema.parse({ id: 'orders', ...fields }).status).toBe('unknown');
});

test.each([
  ['RUNNING', 'running'],
  ['Suspended', 'suspended'],
  [' pending ', 'pending'],
  ['Upgrading', 'Upgrading'],
])('clusterSchema reads the status %j, in whatever letters, as %j', (status, read) => {
  const cluster = clusterSchema.parse({ ...least, status, servers: [{ address: 'a:1', status }] });
  expect([cluster.status, cluster.servers[0]?.status]).toEqual([read, read]);
});

// The status has room for whole numbers only, and one that does not fit would prevent the whole status from being written.
test.each([
  [100, 1, 100, 1],
  [100.5, 3, 100, 3],
  [107.37, 1.5, 107, undefined],
  [99.6, -1, 100, undefined],
  [0.2, 1e300, 0, undefined],
  [1e300, 9, undefined, 9],
  [-1, 2 ** 53, undefined, undefined],
  ['100', '3', 100, 3],
])('clusterSchema reads sizes of %j GB on %j servers as %j on %j', (storageSizeGB, serverCount, size, count) => {
  const cluster = clusterSchema.parse({ ...least, storageSizeGB, serverCount });
  expect([cluster.storageSizeGB, cluster.serverCount]).toEqual([size, count]);
});

test.each([
  ['milliseconds', 1_700_000_000_123, 1_700_000_000_123],
  ['seconds', 1_700_000_000, 1_700_000_000_000],
  ['seconds with a fraction', 1_700_000_000.123, 1_700_000_000_123],
  ['digits', '1700000000123', 1_700_000_000_123],
  ['digits of seconds', '1700000000', 1_700_000_000_000],
  ['words', '2023-11-14T22:13:20.123Z', 1_700_000_000_123],
  ['words of another zone', '2023-11-15T00:13:20+02:00', 1_700_000_000_000],
  ['what is neither, as far as anybody knows', 7, 7],
])('clusterSchema reads creation times in %s', (_unit, createdAt, read) => {
  expect(clusterSchema.parse({ ...least, createdAt }).createdAt).toBe(read);
});

test.each(['0001-01-01T00:00:00Z', '1970-01-01T00:00:00Z'])(
  'clusterSchema reads %j as no creation time, as programs write it for none',
  (createdAt) => {
    expect(clusterSchema.parse({ ...least, createdAt }).createdAt).toBeUndefined();
  },
);

test.each([
  {},
  { ...least, id: null },
  { ...least, id: 7 },
  { ...least, id: '' },
  { ...least, status: 7 },
  { ...least, createdAt: '2026' },
  { ...least, createdAt: '2026-11-20' },
  { ...least, createdAt: '2026-11-20T10:00:00' },
  { ...least, createdAt: '2026-13-20T10:00:00Z' },
  { ...least, storageSizeGB: '10 GB' },
  { ...least, serverCount: '' },
  { ...least, isFree: 'no' },
  { ...least, servers: {} },
  { ...least, servers: ['a:1'] },
  [],
  null,
  'orders',
])('clusterSchema refuses to guess what %j means', (answer) => {
  expect(clusterSchema.safeParse(answer).success).toBe(false);
});

test.each([
  [{ createdAt: 'today' }, 'expected a time, such as 1763632800000 or 2025-11-20T10:00:00Z'],
  [{ storageSizeGB: '10 GB' }, 'expected a number'],
])('clusterSchema says of %j what it expected', (fields, message) => {
  expect(clusterSchema.safeParse({ ...least, ...fields }).error?.issues).toMatchObject([{ message }]);
});

test('versionsSchema reads the version list', () => {
  expect(versionsSchema.parse({ availableVersions: ['3.5.0'], x: 1 })).toEqual({ availableVersions: ['3.5.0'] });
  expect(versionsSchema.safeParse({ availableVersions: null }).success).toBe(false);
});

test('The words of a cloud are read as they are shown: on one line of limited length', () => {
  const hostile = `run\u001b[2J\u009bning\n${'x'.repeat(5_000)}`;
  const given = { ...least, status: hostile, machineType: hostile, servers: [{ address: 'a:1', status: hostile }] };
  const { status, machineType, servers } = clusterSchema.parse(given);
  for (const word of [
    status,
    machineType,
    servers[0]?.status ?? '',
    ...versionsSchema.parse({ availableVersions: [hostile] }).availableVersions,
  ]) {
    expect(word).toMatch(/^run \[2J ning x+$/);
    expect(word).toHaveLength(1_000);
  }
});
