import { test } from 'vitest';
import { cluster, wholeSpace } from '../support/manifests.ts';
import { startBench } from '../support/operator-bench.ts';

test('an operator with many namespaces, each with its watches, still gets its work done', async (context) => {
  const bench = await startBench(40);
  context.onTestFinished(() => bench.close());
  const site = await bench.site(context);
  await site.apply(...wholeSpace(site.cloud), cluster());
  await site.ready();
});
