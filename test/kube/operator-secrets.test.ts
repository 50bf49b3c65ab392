import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from '../support/control-plane.ts';
import { cluster, secret, space, tokenSecret, wholeSpace } from '../support/manifests.ts';
import { type OperatorBench, startBench } from '../support/operator-bench.ts';

/* No secret gets into a log, an Event, a status or a metric, whatever goes wrong and whatever the other side says. */

let bench: OperatorBench;

beforeAll(async () => {
  bench = await startBench(1);
});

afterAll(() => bench?.close());

test('nothing that the operator says contains a secret, although the cloud repeats them in its messages', async (context) => {
  const site = await bench.site(context, { knobs: { echoSecrets: true } });
  const { cloud } = site;
  const { simulator } = cloud;
  const wrong = 'wrong-secret-0f2b8d64c1';
  const secrets = new Set([wrong, 'changed-in-the-console-77']);

  // All kinds of refusals: of a token, of a request with a token, of a sign-in, of an update.
  await site.apply(...wholeSpace(cloud), secret('cloud-write', { clientID: 'write-id', clientSecret: wrong }));
  await site.until('DatabaseSpace', { reason: 'CredentialsInvalid' });
  await site.apply(tokenSecret('write'), cluster({ machineType: 'z9-huge-1', allowUnlisted: true }));
  await site.until('DatabaseCluster', { reason: 'RefusedByCloud' });
  simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'errorBefore', times: 1 });
  await site.apply(cluster());
  await site.ready();
  const keep = async () => {
    for (const value of Object.values((await site.secret())?.data ?? {})) secrets.add(value);
  };
  await keep();
  simulator.endAccessTokens();
  await site.apply(cluster({ storageSizeGB: 200 }));
  await site.ready();
  simulator.setPassword('orders', 'admin', 'changed-in-the-console-77');
  await site.apply(space(cloud, { verifyInterval: '1s' }));
  await site.until('DatabaseCluster', { reason: 'AdminLoginRefused' });
  await site.apply(
    secret('console-login', { username: 'admin', password: 'changed-in-the-console-77' }),
    cluster({ storageSizeGB: 200, adminCredentials: { existingSecretRef: { name: 'console-login' } } }),
  );
  await site.ready();
  await keep();
  simulator.faults.add({ match: { operation: 'list' }, effect: 'errorBefore' });
  await waitUntil(async () => (await site.get('DatabaseSpace'))?.status?.conditions?.[0]?.status === 'False', {
    what: 'the space says that it cannot be listed',
  });
  simulator.faults.clear();
  await site.until('DatabaseSpace', { status: 'True' });

  for (const each of cloud.secrets) secrets.add(each);
  // Names are no secrets: clientIDs and usernames may be shown.
  for (const name of ['admin', 'write-id', 'admin-id']) secrets.delete(name);
  expect(secrets.size).toBeGreaterThan(8);
  const shown = await Promise.all([site.get('DatabaseSpace'), site.get('DatabaseCluster')]);
  const places = {
    logs: bench.operator.logs(),
    metrics: await bench.operator.metricsText(),
    events: JSON.stringify(await site.events()),
    objects: JSON.stringify(shown),
  };
  expect(places.logs).toMatch(/RefusedByCloud/);
  for (const [place, text] of Object.entries(places)) {
    for (const value of secrets) {
      for (const form of [value, Buffer.from(value).toString('base64'), encodeURIComponent(value)]) {
        expect(text.includes(form), `${place} holds secret "${value}"`).toBe(false);
      }
    }
  }
});
