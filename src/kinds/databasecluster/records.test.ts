import { describe, expect, it } from 'vitest';
import { aCluster, type ClusterBuilder, PLACE } from '../../../test/support/builders.ts';
import type { KubeObject } from '../../kube/object.ts';
import { claims } from './claimants.ts';
import { claimedIDs, neededBy, neededSpace } from './records.ts';
import { CLUSTER_FINALIZER } from './resource.ts';

function objectOf({ subject }: ClusterBuilder, held = true): KubeObject {
  const { metadata, spec, status } = subject;
  const finalizers = held ? [CLUSTER_FINALIZER] : [];
  return {
    apiVersion: 'mooring.dev/v1alpha1',
    kind: 'DatabaseCluster',
    metadata: { ...metadata, finalizers },
    spec,
    status,
  };
}

const SPACE = 'shop/production';
const ours = aCluster().with({ deletionPolicy: 'Delete' });
const refused = ours.withCondition('Ready', 'False', 'SpaceNotAllowed');

describe('neededBy() and neededSpace()', () => {
  it.each([
    ['whose cluster exists', ours.owned(), true],
    ['that is about to create one', ours.announced(), true],
    ['that has nothing in the cloud, whatever its finalizers', refused, false],
    ['that lost admission after its cluster was created', refused.owned(), true],
    ['whose cluster stays', ours.owned().with({ deletionPolicy: 'Retain' }), false],
  ])('name an object %s, or not', (_, builder, needs) => {
    const object = objectOf(builder);
    expect(neededBy(new Set([object]), SPACE)).toEqual(needs ? ['shop/orders'] : []);
    expect(neededSpace(object)).toBe(needs ? SPACE : undefined);
    expect(neededBy(new Set([objectOf(builder, false)]), SPACE)).toEqual([]);
  });
});

describe('claimedIDs()', () => {
  it('leaves out what is in another place than its space is now', () => {
    const elsewhere = { ...PLACE, baseURL: 'https://before.example.com' };
    const idsOf = (given: ClusterBuilder) => [...claimedIDs(new Set([objectOf(given)]), SPACE, PLACE)];
    expect(idsOf(ours.owned().withStatus({ place: elsewhere }))).toEqual([]);
    expect(idsOf(ours.owned().withStatus({ place: PLACE }))).toEqual(['orders']);
    expect(idsOf(ours.owned())).toEqual(['orders']);
  });
});

describe('claimedIDs() and claims()', () => {
  it.each([
    ['new', ours, true],
    ['not admitted', refused, false],
    ['not admitted any more, but has a cluster', refused.owned(), true],
  ])('ask of an object that is %s whether its id counts', (_, builder, counts) => {
    const object = objectOf(builder);
    expect([...claimedIDs(new Set([object]), SPACE)]).toEqual(counts ? ['orders'] : []);
    expect(claims(builder.subject)).toBe(counts);
  });
});
