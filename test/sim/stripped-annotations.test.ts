import { expect, test } from 'vitest';
import { SECRETS } from '../../src/kube/api.ts';
import { withUser } from './scenario.ts';
import { CLUSTERS, USERS } from './view.ts';
import { World } from './world.ts';

const ASKED = '1';

test('A rotation that is asked for is made once, even if something removes the annotations of Secrets', async () => {
  const world = new World();
  const { clock, kube, people, simulator, view } = world;
  await world.start();
  await withUser(world);
  const patch = kube.patch.bind(kube);
  kube.patch = async (resource, ref, changes, ...more) => {
    if (resource.plural !== SECRETS.plural) return patch(resource, ref, changes, ...more);
    const { metadata, ...rest } = changes as { readonly metadata?: Readonly<Record<string, unknown>> };
    const known = view.object(ref.name, SECRETS)?.metadata.annotations ?? {};
    const annotations = Object.fromEntries(Object.keys(known).map((key) => [key, null]));
    return patch(resource, ref, { ...rest, metadata: { ...metadata, annotations } }, ...more);
  };
  const before = simulator.count('updateUser');
  for (const [name, resource] of [['orders', CLUSTERS] as const, ['app', USERS] as const])
    await people.edit({ annotations: { 'mooring.dev/rotate-at': ASKED } }, name, resource);
  await clock.advance(300_000);
  expect(simulator.count('updateUser') - before).toBe(2);
  for (const status of [view.status('orders'), view.status('app', USERS)])
    expect(status).toMatchObject({ lastHandledRotateAt: ASKED });
  // Annotations that do not stay are written in vain.
  const others = world.invariants.violations.filter(({ invariant }) => invariant !== 'no write without a change');
  expect(others).toEqual([]);
  world.stop();
});
