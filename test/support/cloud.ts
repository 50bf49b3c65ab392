import type { HttpRequest } from '../../src/base/transport.ts';
import { CloudClient, type CloudClientOptions } from '../../src/cloud/client.ts';
import type { DeployRequest } from '../../src/cloud/request.ts';
import type { AccessLevel } from '../../src/cloud/token.ts';
import type { RequestRecord } from '../../src/http/api-call.ts';
import { ApiError } from '../../src/http/api-error.ts';
import { manualClock, noChance } from './clock.ts';
import { type Script, scriptedTransport } from './http.ts';

export const request: DeployRequest = {
  id: 'orders',
  serverCount: 1,
  storageSizeGB: 100,
  provider: 'gcp',
  isFree: false,
  region: 'europe-west2',
  machineType: 'c2d-highcpu-4',
  storageType: 'standard-rwo',
  version: '3.5.0',
};

/** Tokens are named after the level that they were requested for. */
export function aClient(
  script: Script,
  levels: readonly AccessLevel[] = ['read', 'write', 'admin'],
  changes: Partial<CloudClientOptions> = {},
) {
  const transport = scriptedTransport((sent, count) => {
    if (!sent.url.endsWith('/api/v1/auth')) return script(sent, count);
    return { status: 200, body: `${/Basic (\w+)-id/.exec(String(sent.headers?.['authorization']))?.[1]}-token` };
  });
  const records: RequestRecord[] = [];
  const client = new CloudClient({
    baseURL: 'https://cloud.example.com',
    teamID: 'acme',
    spaceID: 'production',
    credentials: levels.map((level) => ({ level, clientID: `${level}-id`, clientSecret: `canary-${level}-secret` })),
    transport,
    clock: manualClock(),
    random: noChance,
    onRequest: (record) => records.push(record),
    ...changes,
  });
  const calls = () => transport.requests.filter((sent) => !sent.url.endsWith('/api/v1/auth'));
  const exchanges = () => transport.requests.length - calls().length;
  return { client, calls, exchanges, records, transport };
}

/** The ApiError that the promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    (value) => new Error(`no error but ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) throw error;
  return error;
}

export const tokenOf = (sent: HttpRequest | undefined) => sent?.headers?.['authorization'];
