import { afterAll, beforeAll, expect, test } from 'vitest';
import { cluster, space, wholeSpace } from '../support/manifests.ts';
import { type OperatorBench, startBench } from '../support/operator-bench.ts';

/* A manifest cannot direct a request to addresses that only the operator can reach. For addresses behind names: src/http/undici-transport-guard.test.ts. */

let bench: OperatorBench;

beforeAll(async () => {
  bench = await startBench(2);
});

afterAll(() => bench?.close());

test("a space at the machine's metadata service is stalled, and recovers", async (context) => {
  const site = await bench.site(context);
  await site.apply(...wholeSpace(site.cloud, { baseURL: 'https://2852039166/latest' }), cluster());
  const { status } = await site.until('DatabaseSpace', {
    status: 'False',
    reason: 'BaseURLNotAllowed',
    message:
      /^baseURL "169\.254\.169\.254" is a link-local address, .*: use a public address, or have it added to .*--allowed-networks$/,
  });
  expect(status?.conditions?.[1]).toMatchObject({ type: 'Stalled', status: 'True' });

  await site.apply(space(site.cloud));
  await site.ready();
});

test('nothing is deployed in a space whose serverURL leads to a private address, and the space says why', async (context) => {
  const site = await bench.site(context);
  await site.apply(...wholeSpace(site.cloud, { serverURL: 'https://10.96.0.1:{port}/{host}' }), cluster());
  await site.until('DatabaseSpace', {
    reason: 'ServerURLNotAllowed',
    message:
      /^serverURL of the DatabaseSpace: "10\.96\.0\.1" is a private address, where the operator sends nothing unless told to: /,
  });

  await site.apply(space(site.cloud));
  await site.ready();
});
