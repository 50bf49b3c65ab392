import { expect } from 'vitest';
import type { DeployRequest } from '../../../src/cloud/request.ts';
import { type Check, section } from '../check.ts';
import {
  type CloudSetting,
  clientOf,
  destroyed,
  newID,
  rawAs,
  SPACE_PATH,
  untilStatus,
  withCluster,
} from '../cloud-setting.ts';
import { expectErrorObject, expectRefusal } from '../raw.ts';

/** Fields of a request that breaks exactly one rule, by the rule. The client refuses most of them itself: they are sent raw. */
const RULES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'an id with capitals': { id: 'Conformance' },
  'an empty id': { id: '' },
  'an id with spaces': { id: 'con formance' },
  'an id with a dot': { id: 'con.formance' },
  'an id that ends in a separator': { id: 'conformance-' },
  'no server': { serverCount: 0, version: '2.29.1' },
  'an even number of servers': { serverCount: 2, version: '2.29.1' },
  'eleven servers': { serverCount: 11, version: '2.29.1' },
  'one and a half servers': { serverCount: 1.5 },
  'three servers of version 3 or later': { serverCount: 3 },
  'less than 10 GB': { storageSizeGB: 9 },
  'more than 1000 GB': { storageSizeGB: 1001 },
  'half a GB': { storageSizeGB: 10.5 },
  'another provider': { provider: 'azure' },
  'an unknown region': { region: 'moon-1' },
  'a region of another provider': { region: 'eu-west-2' },
  'an unknown machine type': { machineType: 'c2d-highcpu-3' },
  'a machine type of another provider': { machineType: 'c7g.large' },
  'a machine type that the region lacks': {
    provider: 'aws',
    region: 'eu-west-2',
    machineType: 'c8g.large',
    storageType: 'gp2-csi',
  },
  'a storage type of another provider': { storageType: 'gp2-csi' },
  'an unknown version': { version: '0.0.1' },
  'backups every week': { backupConfiguration: { frequency: 'weekly', retentionDays: 7 } },
  'backups kept for 8 days': { backupConfiguration: { frequency: 'daily', retentionDays: 8 } },
};

const FREE = { isFree: true, storageSizeGB: 10, machineType: 'c2d-highcpu-2' };

const FREE_RULES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'a machine type that is not free': { ...FREE, machineType: 'c2d-highcpu-4' },
  'more than 10 GB': { ...FREE, storageSizeGB: 11 },
  'three servers': { ...FREE, serverCount: 3, version: '2.29.1' },
  'daily backups': { ...FREE, backupConfiguration: { frequency: 'daily', retentionDays: 7 } },
};

const GCP = {
  provider: 'gcp',
  region: 'europe-west2',
  machineType: 'c2d-highcpu-2',
  storageType: 'standard-rwo',
} as const satisfies Partial<DeployRequest>;

function refusal(what: string, fields: Readonly<Record<string, unknown>>): Check<CloudSetting> {
  return {
    section: 'Deploy request fields',
    name: `${what} is refused, and nothing is created`,
    needs: ['levels', 'deploy'],
    run: async (setting) => {
      const body = { ...setting.deployment, ...GCP, id: newID(setting), ...fields };
      try {
        expectRefusal(await rawAs(setting, 'write', { method: 'POST', path: `${SPACE_PATH(setting)}/deploy`, body }));
        expect((await clientOf(setting).list()).map(({ id }) => id)).not.toContain(body.id);
      } finally {
        if (/^[a-z0-9-]+$/.test(body.id)) await destroyed(setting, body.id);
      }
    },
  };
}

export const deployChecks: readonly Check<CloudSetting>[] = [
  ...Object.entries(RULES).map(([what, fields]) => refusal(what, fields)),
  ...Object.entries(FREE_RULES).map(([what, fields]) => refusal(`a free cluster with ${what}`, fields)),

  ...section<CloudSetting>('Deploy', ['deploy'], {
    'the answer is the starting cluster with one pending server': async (setting) => {
      const id = newID(setting);
      const client = clientOf(setting);
      try {
        const cluster = await client.deploy({ ...setting.deployment, id });
        const { backupConfiguration: _, storageType, version, ...asked } = setting.deployment;
        expect(cluster).toMatchObject({ ...asked, id, status: 'starting', createdAt: expect.any(Number) });
        expect(['gp2', 'gp2-csi', 'standard-rwo']).toContain(cluster.storageType);
        expect(cluster.storageType?.startsWith(storageType.slice(0, 3))).toBe(true);
        if (version !== 'latest') expect(cluster.version).toBe(version);
        expect(cluster.servers.every(({ status }) => status === 'pending')).toBe(true);
        const running = await untilStatus(setting, id, 'running');
        expect(running?.createdAt).toBe(cluster.createdAt);
        expect(running?.servers.length).toBeGreaterThan(0);
        for (const server of running?.servers ?? []) expect(server.address).toMatch(/^.+:\d+$/);
      } finally {
        await destroyed(setting, id);
      }
    },
    'an id that is in use is 409, and the client says so': async (setting) => {
      await withCluster(setting, async (id, client) => {
        const error = await client.deploy({ ...setting.deployment, id }).catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ name: 'ApiError', kind: 'conflict', status: 409, effectUnknown: false });
        const body = { ...setting.deployment, id };
        expectErrorObject(
          await rawAs(setting, 'write', { method: 'POST', path: `${SPACE_PATH(setting)}/deploy`, body }),
          409,
        );
      });
    },
    'the version latest becomes a version': async (setting) => {
      await withCluster(
        setting,
        async (id, client) => {
          const versions = await client.versions();
          expect(versions).toContain((await client.get(id))?.version);
        },
        { version: 'latest' },
      );
    },
    'the id of a destroyed cluster can be used again, by another cluster': async (setting) => {
      const id = newID(setting);
      const client = clientOf(setting);
      try {
        const first = await client.deploy({ ...setting.deployment, id });
        await destroyed(setting, id);
        setting.powers?.advance(1);
        const second = await client.deploy({ ...setting.deployment, id });
        expect(second.createdAt).not.toBe(first.createdAt);
      } finally {
        await destroyed(setting, id);
      }
    },
  }),

  ...section<CloudSetting>('Deploy', ['levels', 'deploy'], {
    'a body that is not JSON is 400': async (setting) => {
      const path = `${SPACE_PATH(setting)}/deploy`;
      expectErrorObject(await rawAs(setting, 'write', { method: 'POST', path, body: '{"id":' }), 400);
    },
    'a body without an id is 400': async (setting) => {
      const path = `${SPACE_PATH(setting)}/deploy`;
      expectErrorObject(await rawAs(setting, 'write', { method: 'POST', path, body: setting.deployment }), 400);
    },
  }),

  ...section<CloudSetting>('Limits', ['simulator'], {
    'a second free cluster of a team is refused': async (setting) => {
      const client = clientOf(setting);
      const { backupConfiguration: _, ...deployment } = { ...setting.deployment, ...GCP, ...FREE };
      await client.deploy({ ...deployment, id: 'free-1' });
      const error = await client.deploy({ ...deployment, id: 'free-2' }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: 'ApiError', status: 400, kind: 'invalid' });
    },
    'without a valid payment method only a free cluster is deployed': async (setting) => {
      setting.powers?.simulator.setPaymentMethod(setting.teamID, false);
      const client = clientOf(setting);
      const error = await client.deploy({ ...setting.deployment, id: 'paid' }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: 'ApiError', status: 400 });
      const { backupConfiguration: _, ...deployment } = { ...setting.deployment, ...GCP, ...FREE };
      expect(await client.deploy({ ...deployment, id: 'free' })).toMatchObject({ isFree: true });
    },
    'several servers are deployed before version 3': async (setting) => {
      await withCluster(
        setting,
        async (id, client) => {
          const cluster = await client.get(id);
          expect(cluster).toMatchObject({ serverCount: 3, servers: { length: 3 } });
        },
        { serverCount: 3, version: '2.29.1' },
      );
    },
  }),
];
