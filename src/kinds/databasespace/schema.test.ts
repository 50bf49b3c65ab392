import { expect, test } from 'vitest';
import { parseSpec, parseStatus } from '../../kube/definition.ts';
import { databaseSpaceDefinition } from './schema.ts';

const MINIMAL = {
  baseURL: 'https://cloud.example.com',
  teamID: 'acme',
  spaceID: 'production',
  apiTokens: [{ level: 'admin', secretRef: { name: 'cloud' } }],
  defaultCredentialsSecretRef: { name: 'factory-login' },
};

test('parseSpec() of a space applies the defaults of the schema', () => {
  expect(parseSpec(databaseSpaceDefinition, MINIMAL)).toEqual({
    ok: true,
    spec: { ...MINIMAL, serverURL: 'https://{host}:{port}', pollInterval: '60s', verifyInterval: '10m' },
  });
});

test('parseSpec() of a space names a wrong duration and an unknown level', () => {
  const parsed = parseSpec(databaseSpaceDefinition, {
    ...MINIMAL,
    pollInterval: '1d',
    apiTokens: [{ level: 'owner' }],
  });
  expect(parsed.ok ? '' : parsed.message).toMatch(
    /^spec\.apiTokens\[0\]\.level cannot be "owner": .*; spec\.apiTokens\[0\]\.secretRef is missing: set it; spec\.pollInterval cannot be "1d": /,
  );
});

test('parseStatus() of a space is that of one which was not seen yet if there is none', () => {
  expect(parseStatus(databaseSpaceDefinition, undefined)).toEqual({ observedGeneration: -1 });
});
