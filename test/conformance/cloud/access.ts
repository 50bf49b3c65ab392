import { expect } from 'vitest';
import type { CloudClient } from '../../../src/cloud/client.ts';
import type { AccessLevel, CloudCredential } from '../../../src/cloud/token.ts';
import { ApiError } from '../../../src/http/api-error.ts';
import type { Check } from '../check.ts';
import { type CloudSetting, clientOf, rawAs, SPACE_PATH, tokenOf } from '../cloud-setting.ts';
import { expectErrorObject, type RawRequest, raw } from '../raw.ts';

interface CloudEndpoint {
  readonly name: string;
  readonly method: RawRequest['method'];
  readonly path: (setting: CloudSetting, id: string) => string;
  readonly level: AccessLevel;
  readonly body?: (setting: CloudSetting) => unknown;
  readonly onCluster: boolean;
  readonly call: (client: CloudClient, setting: CloudSetting) => Promise<unknown>;
}

const MISSING = 'no-such-cluster';

/** "Endpoints": all that carry a bearer token. The bodies are correct, so that nothing else is wrong with a request. */
const ENDPOINTS: readonly CloudEndpoint[] = [
  {
    name: 'Deploy',
    method: 'POST',
    path: (setting) => `${SPACE_PATH(setting)}/deploy`,
    level: 'write',
    body: ({ deployment }) => ({ ...deployment, id: MISSING }),
    onCluster: false,
    call: (client, { deployment }) => client.deploy({ ...deployment, id: MISSING }),
  },
  {
    name: 'Get',
    method: 'GET',
    path: (setting, id) => `${SPACE_PATH(setting)}/${id}`,
    level: 'read',
    onCluster: true,
    call: (client) => client.get(MISSING),
  },
  {
    name: 'List',
    method: 'GET',
    path: SPACE_PATH,
    level: 'read',
    onCluster: false,
    call: (client) => client.list(),
  },
  {
    name: 'Update',
    method: 'PATCH',
    path: (setting, id) => `${SPACE_PATH(setting)}/${id}`,
    level: 'write',
    body: () => ({ storageSizeGB: 20 }),
    onCluster: true,
    call: (client) => client.update(MISSING, { storageSizeGB: 20 }),
  },
  {
    name: 'Suspend',
    method: 'POST',
    path: (setting, id) => `${SPACE_PATH(setting)}/${id}/suspend`,
    level: 'write',
    onCluster: true,
    call: (client) => client.suspend(MISSING),
  },
  {
    name: 'Resume',
    method: 'POST',
    path: (setting, id) => `${SPACE_PATH(setting)}/${id}/resume`,
    level: 'write',
    onCluster: true,
    call: (client) => client.resume(MISSING),
  },
  {
    name: 'Clone',
    method: 'POST',
    path: (setting, id) => `${SPACE_PATH(setting)}/${id}/clone`,
    level: 'write',
    body: () => ({ id: 'no-such-clone' }),
    onCluster: true,
    call: (client) => client.clone(MISSING, 'no-such-clone'),
  },
  {
    name: 'Destroy',
    method: 'DELETE',
    path: (setting, id) => `${SPACE_PATH(setting)}/${id}`,
    level: 'admin',
    onCluster: true,
    call: (client) => client.destroy(MISSING),
  },
  {
    name: 'List versions',
    method: 'GET',
    path: () => '/api/v1/cluster-versions',
    level: 'read',
    onCluster: false,
    call: (client) => client.versions(),
  },
];

const LOWER: Readonly<Record<AccessLevel, readonly AccessLevel[]>> = {
  read: [],
  write: ['read'],
  admin: ['read', 'write'],
};

/** Every error status of the table that can be triggered without a cluster. */
export const accessChecks: readonly Check<CloudSetting>[] = ENDPOINTS.flatMap((endpoint) => {
  const { name, method, level, body, onCluster } = endpoint;
  const inSpace = name !== 'List versions';
  // A server that does not refuse it would create a cluster.
  const asks = name === 'Deploy' ? ['levels', 'deploy'] : ['levels'];
  const request = (setting: CloudSetting, path = endpoint.path(setting, MISSING)): RawRequest => ({
    method,
    path,
    body: body?.(setting),
  });
  const elsewhere = (change: Partial<CloudSetting>) => async (setting: CloudSetting) => {
    const path = endpoint.path({ ...setting, ...change }, MISSING);
    expectErrorObject(await rawAs(setting, level, request(setting, path)), 404);
  };
  const check = (
    sentence: string,
    needs: readonly string[],
    run: (setting: CloudSetting) => Promise<void>,
  ): Check<CloudSetting> => ({ section: name, name: sentence, needs, run });

  return [
    check('without a token it is 400', [], async (setting) => {
      expectErrorObject(await raw(setting, request(setting)), 400);
    }),
    check('a header without a token is 400', [], async (setting) => {
      expectErrorObject(await raw(setting, { ...request(setting), authorization: 'Bearer' }), 400);
    }),
    check('with an invalid token it is 401', [], async (setting) => {
      expectErrorObject(await raw(setting, { ...request(setting), authorization: 'Bearer no-such-token' }), 401);
    }),
    ...(onCluster
      ? [
          check('an unknown cluster is 404', ['levels'], async (setting: CloudSetting) => {
            expectErrorObject(await rawAs(setting, level, request(setting)), 404);
          }),
          check('the client knows what an unknown cluster is', ['levels'], async (setting: CloudSetting) => {
            const outcome = await endpoint.call(clientOf(setting), setting).catch((error: unknown) => error);
            if (name === 'Get' || name === 'Destroy') expect(outcome).toBeUndefined();
            else expect(outcome).toMatchObject({ name: 'ApiError', kind: 'notFound', status: 404 });
          }),
        ]
      : []),
    ...(inSpace
      ? [
          check('an unknown space is 404', asks, elsewhere({ spaceID: 'no-such-space' })),
          check('an unknown team is 404', asks, elsewhere({ teamID: 'no-such-team' })),
        ]
      : [
          check('a token of any level will do', ['levels'], async (setting: CloudSetting) => {
            for (const any of ['read', 'write', 'admin'] as const) {
              expect((await rawAs(setting, any, request(setting))).status).toBe(200);
            }
          }),
        ]),
    ...LOWER[level].map((lower) =>
      check(`a token of level ${lower} is 403`, asks, async (setting) => {
        expectErrorObject(await rawAs(setting, lower, request(setting)), 403);
      }),
    ),
    ...(level === 'write' && onCluster
      ? [
          check(
            'the client goes on from a credential that does not suffice',
            ['levels'],
            async (setting: CloudSetting) => {
              const credentials = setting.credentials.flatMap((credential): CloudCredential[] => {
                if (credential.level === 'read') return [{ ...credential, level: 'write' }];
                return credential.level === 'admin' ? [credential] : [];
              });
              const outcome = await endpoint
                .call(clientOf({ ...setting, credentials }), setting)
                .catch((error) => error);
              expect(outcome).toMatchObject({ name: 'ApiError', kind: 'notFound', status: 404 });
            },
          ),
        ]
      : []),
    check('a failure of the service is 500', ['simulator'], async (setting) => {
      setting.powers?.simulator.faults.add({ effect: 'errorBefore', match: { api: 'cloud' }, skip: 1 });
      const token = await tokenOf(setting, level);
      expectErrorObject(await raw(setting, { ...request(setting), authorization: `Bearer ${token}` }), 500);
      setting.powers?.simulator.faults.clear();
      setting.powers?.simulator.faults.add({ effect: 'errorBefore', match: { api: 'cloud' }, skip: 1 });
      const error = await endpoint.call(clientOf(setting), setting).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ kind: 'unavailable', status: 500, code: expect.any(String) });
    }),
    ...(inSpace
      ? [
          check('a token for another space is 403', ['simulator'], async (setting: CloudSetting) => {
            const clientID = `staging-${level}-id`;
            const credentials = [{ level, clientID, clientSecret: `staging-${level}-secret-0123456789` }];
            const token = await tokenOf({ ...setting, credentials }, level);
            expectErrorObject(await raw(setting, { ...request(setting), authorization: `Bearer ${token}` }), 403);
          }),
        ]
      : []),
  ];
});
