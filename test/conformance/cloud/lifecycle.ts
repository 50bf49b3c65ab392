import { expect } from 'vitest';
import { section } from '../check.ts';
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
import { expectRefusal } from '../raw.ts';

const clusterPath = (setting: CloudSetting, id: string) => `${SPACE_PATH(setting)}/${id}`;

export const lifecycleChecks = [
  ...section<CloudSetting>('Get', ['deploy'], {
    'the answer is the cluster': async (setting) => {
      await withCluster(setting, async (id, client) => {
        expect(await client.get(id)).toMatchObject({ id, status: 'running' });
      });
    },
  }),
  ...section<CloudSetting>('List', [], {
    'the answer is an array, empty or not': async (setting) => {
      expect(Array.isArray(await clientOf(setting).list())).toBe(true);
    },
  }),
  ...section<CloudSetting>('List', ['deploy'], {
    'it holds the same cluster that Get shows': async (setting) => {
      await withCluster(setting, async (id, client) => {
        const listed = (await client.list()).find((cluster) => cluster.id === id);
        expect(listed).toEqual(await client.get(id));
      });
    },
  }),
  ...section<CloudSetting>('List versions', [], {
    'the answer holds versions that can be deployed': async (setting) => {
      const versions = await clientOf(setting).versions();
      expect(versions.length).toBeGreaterThan(0);
      for (const version of versions) expect(version).toMatch(/^\d+\.\d+/);
    },
  }),

  ...section<CloudSetting>('Update', ['deploy'], {
    'storage changes': async (setting) => {
      await withCluster(setting, async (id, client) => {
        const storageSizeGB = setting.deployment.storageSizeGB + 10;
        expect(await client.update(id, { storageSizeGB })).toMatchObject({ id, storageSizeGB });
        expect(await client.get(id)).toMatchObject({ storageSizeGB });
      });
    },
    'backups change, even if no answer shows them': async (setting) => {
      await withCluster(setting, async (id, client) => {
        const backupConfiguration = { frequency: 'hourly', retentionDays: 30 } as const;
        expect(await client.update(id, { backupConfiguration })).toMatchObject({ id });
      });
    },
    'a new id is in the answer, and the old one is gone': async (setting) => {
      await withCluster(setting, async (id, client) => {
        const newName = newID(setting);
        try {
          expect(await client.update(id, { id: newName })).toMatchObject({ id: newName });
          expect(await client.get(newName)).toMatchObject({ id: newName });
          expect(await client.get(id)).toBeUndefined();
        } finally {
          await destroyed(setting, newName);
        }
      });
    },
    'a new id that is in use is refused, and both clusters stay': async (setting) => {
      await withCluster(setting, async (id, client) => {
        await withCluster(setting, async (other) => {
          const error = await client.update(id, { id: other }).catch((thrown: unknown) => thrown);
          expect(error).toMatchObject({ name: 'ApiError', effectUnknown: false });
          expect(await client.get(id)).toMatchObject({ id });
          expect(await client.get(other)).toMatchObject({ id: other });
        });
      });
    },
  }),
  ...section<CloudSetting>('Update', ['levels', 'deploy'], {
    'rules hold as at deploy, and at least one field must be set': async (setting) => {
      await withCluster(setting, async (id, client) => {
        const before = await client.get(id);
        const bodies = [
          {},
          { id: 'Capitals' },
          { storageSizeGB: 9 },
          { storageSizeGB: 1001 },
          { storageSizeGB: 20.5 },
          { machineType: 'no-such-machine' },
          { backupConfiguration: { frequency: 'weekly', retentionDays: 7 } },
          { backupConfiguration: { frequency: 'daily', retentionDays: 8 } },
        ];
        for (const body of bodies) {
          expectRefusal(await rawAs(setting, 'write', { method: 'PATCH', path: clusterPath(setting, id), body }));
        }
        expect(await client.get(id)).toEqual(before);
      });
    },
  }),
  ...section<CloudSetting>('Update', ['simulator'], {
    'the machine type changes': async (setting) => {
      await withCluster(setting, async (id, client) => {
        const machineType = 'c2d-highcpu-8';
        expect(await client.update(id, { machineType })).toMatchObject({ machineType });
      });
    },
    'a free cluster can only be renamed without a payment method': async (setting) => {
      setting.powers?.simulator.setPaymentMethod(setting.teamID, false);
      const client = clientOf(setting);
      const { backupConfiguration: _, ...deployment } = setting.deployment;
      await client.deploy({ ...deployment, id: 'free', isFree: true, storageSizeGB: 10, machineType: 'c2d-highcpu-2' });
      await untilStatus(setting, 'free', 'running');
      const error = await client.update('free', { machineType: 'c2d-highcpu-2' }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: 'ApiError', status: 400 });
      expect(await client.update('free', { id: 'still-free' })).toMatchObject({ id: 'still-free' });
    },
  }),

  ...section<CloudSetting>('Suspend and Resume', ['deploy'], {
    'a suspended cluster has no servers, and has them again when resumed': async (setting) => {
      await withCluster(setting, async (id, client) => {
        expect(await client.suspend(id)).toMatchObject({ id, status: 'suspending', servers: [{ status: 'running' }] });
        expect(await untilStatus(setting, id, 'suspended')).toMatchObject({ servers: [] });
        expect(await client.resume(id)).toMatchObject({ id, status: 'resuming' });
        expect(await untilStatus(setting, id, 'running')).toMatchObject({ servers: [{ status: 'running' }] });
      });
    },
    'a second call is answered or refused, and changes nothing': async (setting) => {
      await withCluster(setting, async (id, client) => {
        await client.resume(id).catch((error: unknown) => expect(error).toMatchObject({ name: 'ApiError' }));
        expect(await untilStatus(setting, id, 'running')).toBeDefined();
        await client.suspend(id);
        await untilStatus(setting, id, 'suspended');
        await client.suspend(id).catch((error: unknown) => expect(error).toMatchObject({ name: 'ApiError' }));
        expect(await untilStatus(setting, id, 'suspended')).toBeDefined();
      });
    },
  }),

  ...section<CloudSetting>('Clone', ['deploy'], {
    'the answer is the new cluster, starting': async (setting) => {
      await withCluster(setting, async (id, client) => {
        const copy = newID(setting);
        try {
          const cluster = await client.clone(id, copy);
          expect(cluster).toMatchObject({ id: copy, status: 'starting', createdAt: expect.any(Number) });
          expect(cluster.servers.every(({ status }) => status === 'pending')).toBe(true);
          expect(await untilStatus(setting, copy, 'running')).toMatchObject({ id: copy });
          expect(await client.get(id)).toMatchObject({ id });
        } finally {
          await destroyed(setting, copy);
        }
      });
    },
    'an id that is in use is refused': async (setting) => {
      await withCluster(setting, async (id, client) => {
        const before = await client.get(id);
        const error = await client.clone(id, id).catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ name: 'ApiError', effectUnknown: false });
        expect(await client.get(id)).toEqual(before);
      });
    },
  }),
  ...section<CloudSetting>('Clone', ['levels', 'deploy'], {
    'an id against the rule is refused': async (setting) => {
      await withCluster(setting, async (id) => {
        const path = `${clusterPath(setting, id)}/clone`;
        for (const body of [{}, { id: 'Capitals' }, { id: '' }]) {
          expectRefusal(await rawAs(setting, 'write', { method: 'POST', path, body }));
        }
      });
    },
  }),

  ...section<CloudSetting>('Destroy', ['deploy'], {
    'the cluster is being destroyed with its server still running, and then gone': async (setting) => {
      const id = newID(setting);
      const client = clientOf(setting);
      await client.deploy({ ...setting.deployment, id });
      await untilStatus(setting, id, 'running');
      expect(await client.destroy(id)).toMatchObject({ id, status: 'destroying', servers: [{ status: 'running' }] });
      await untilStatus(setting, id, 'gone');
      expect((await client.list()).map((cluster) => cluster.id)).not.toContain(id);
      expect(await client.destroy(id)).toBeUndefined();
    },
  }),

  ...section<CloudSetting>('States and transitions', ['simulator'], {
    'an operation that comes too early is refused or done, and the client says which': async (setting) => {
      setting.powers?.simulator.setKnobs({ provisionMs: [60_000, 60_000] });
      const client = clientOf(setting);
      await client.deploy({ ...setting.deployment, id: 'early' });
      for (const call of [() => client.suspend('early'), () => client.update('early', { storageSizeGB: 200 })]) {
        const error = await call().catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ name: 'ApiError', kind: 'invalid', status: 400 });
      }
      setting.powers?.advance(60_000);
      expect(await client.get('early')).toMatchObject({ status: 'running' });
    },
    'a status that no document names is kept as it is': async (setting) => {
      const client = clientOf(setting);
      setting.powers?.simulator.deployForeign({ id: 'orders-odd-status' });
      expect((await client.get('orders-odd-status'))?.status).toMatch(/^(running|maintaining)$/);
    },
  }),
];
