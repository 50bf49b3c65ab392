import { expect, test } from 'vitest';
import { API_VERSION } from '../../src/base/group.ts';
import { HttpError } from '../../src/base/transport.ts';
import { SECRETS } from '../../src/kube/api.ts';
import { aCrowd, type Front } from './crowd.ts';
import { SPACES } from './view.ts';

/** As many DatabaseSpaces as a tenant can create in a minute. */
const HANGING = 300;
const MINUTE_MS = 60_000;

test('DatabaseSpaces whose cloud never answers do not hold up those of another namespace', async () => {
  let hang = (_ms: number): Promise<void> => Promise.resolve();
  const front: Front = async (request, pass) => {
    if (!String(request.headers?.['authorization']).startsWith('Basic mallory')) return pass(request);
    await hang(20_000);
    throw new HttpError('lost', 'No complete answer in time', { isUnanswered: true });
  };
  const crowd = await aCrowd(['production'], '60s', front);
  const { clock, kube, simulator } = crowd;
  hang = (ms) => new Promise((resolve) => void clock.after(ms, resolve));
  const apiTokens = (name: string) => [{ level: 'read', secretRef: { name } }];
  const more = { baseURL: simulator.baseURL, teamID: 'acme', defaultCredentialsSecretRef: { name: 'factory-login' } };
  const put = (name: string, data: object) => kube.create(SECRETS, 'mallory', { metadata: { name }, data });
  await put('factory-login', { username: btoa('admin'), password: btoa('password') });
  for (let index = 0; index < HANGING; index++) {
    const name = `hangs-${index}`;
    await put(name, { clientID: btoa(`mallory-${index}`), clientSecret: btoa('secret') });
    const spec = { ...more, spaceID: name, apiTokens: apiTokens(name), serverURL: 'https://{host}:{port}' };
    const object = { apiVersion: API_VERSION, kind: SPACES.kind, metadata: { name }, spec };
    await kube.create(SPACES, 'mallory', object);
  }
  void crowd.start();
  const from = clock.monotonic();
  await clock.runUntil(() => crowd.readyOf(SPACES, 'production')?.status === 'True', 'it is Ready', 60 * MINUTE_MS);
  const took = clock.monotonic() - from;
  crowd.stop();
  expect(took).toBeLessThan(5_000);
});
