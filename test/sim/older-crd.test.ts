import { expect, test } from 'vitest';
import { recordOf } from '../../src/base/is-record.ts';
import { definitions } from '../../src/kinds/definitions.ts';
import { EVENTS } from '../../src/kube/api.ts';
import { laterFieldsOf, statusSchemaOf } from '../support/status-schema.ts';
import { MINUTE_MS } from './people.ts';
import { CLUSTERS, DATABASES, USERS } from './view.ts';
import { World } from './world.ts';

/* CustomResourceDefinitions of an earlier version that do not know a field of a status: the API server drops it. */

/** Fields that every version has. The invariants need the binding to know which Secret must work. */
const OF_OLD: ReadonlySet<string> = new Set(['observedGeneration', 'conditions', 'binding']);
const FIELDS = definitions.flatMap((definition) =>
  laterFieldsOf(statusSchemaOf(definition))
    .filter((path) => !OF_OLD.has(path.split('.')[0] ?? ''))
    .map((path) => `${definition.plural}.${path}`),
);

/** The paths of everything in a patch that is to be stored. */
function pathsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(pathsIn);
  return Object.entries(recordOf(value)).flatMap(([name, field]) =>
    field === null ? [] : [name, ...pathsIn(field).map((path) => `${name}.${path}`)],
  );
}

test.each(FIELDS)(
  'Without %s nothing is lost or doubled, no key is hot, and an Event says what is missing',
  async (without) => {
    const world = new World({ scenario: 'older-crd', strikes: [], without });
    const { clock, kube, people, invariants } = world;
    const written = new Set<string>();
    const patch = kube.patch.bind(kube);
    kube.patch = (resource, ref, body, options) => {
      if (options?.subresource === 'status')
        for (const path of pathsIn((body as { status: object }).status)) written.add(`${resource.plural}.${path}`);
      return patch(resource, ref, body, options);
    };
    await world.start();
    await people.createCluster({ deletionPolicy: 'Delete' });
    await people.create(USERS, 'app', { clusterRef: { name: 'orders' } });
    await people.create(DATABASES, 'shop', { clusterRef: { name: 'orders' } });
    await clock.advance(30 * MINUTE_MS);
    await people.edit({ spec: { storageSizeGB: 300 }, annotations: { 'mooring.dev/rotate-at': '1' } });
    await clock.advance(30 * MINUTE_MS);
    for (const [name, resource] of [
      ['app', USERS],
      ['shop', DATABASES],
      ['orders', CLUSTERS],
    ] as const)
      people.remove(name, resource);
    await clock.advance(60 * MINUTE_MS);
    world.stop();
    expect(invariants.violations).toEqual([]);
    const path = without.slice(without.indexOf('.') + 1);
    const told = kube.all(EVENTS).some((event) => String(event['note']).includes(`status.${path}`));
    expect(told).toBe(written.has(without));
  },
);
