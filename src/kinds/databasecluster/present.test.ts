import { describe, expect, it } from 'vitest';
import { aCluster, anObservation, CREATED_MS, ENDPOINT } from '../../../test/support/builders.ts';
import { clusterConditions, isDrift, isOurs, shown } from './present.ts';

const healthy = aCluster().healthy();
const foreign = anObservation().cluster({ createdAt: CREATED_MS + 1 });

describe('shown()', () => {
  it('shows what the cloud reports', () => {
    expect(shown(anObservation().seen)).toMatchObject({
      state: 'running',
      clusterID: 'orders',
      version: '3.5.0',
      endpoint: ENDPOINT,
      observed: { storageSizeGB: 100, machineType: 'c2d-highcpu-4' },
    });
  });

  it('takes away what was shown of a cluster that is gone', () => {
    expect(shown(anObservation().missing().seen)).toEqual({
      state: null,
      servers: null,
      observed: null,
      endpoint: null,
    });
  });
});

describe('isOurs()', () => {
  it.each([
    ['the cluster that was recorded', healthy, anObservation(), true],
    ['a cluster when none was recorded', aCluster(), anObservation(), false],
    ['another cluster than was recorded', healthy, foreign, false],
    ['no cluster', healthy, anObservation().missing(), false],
    ['a cluster that tells no creation time', healthy, anObservation().cluster({ createdAt: undefined }), true],
    [
      'a cluster that never told a creation time, and does now',
      healthy.withStatus({ createdAt: 'unknown' }),
      anObservation(),
      false,
    ],
  ])('of %s', (_what, given, seen, ours) => {
    expect(isOurs(given.subject, seen.seen)).toBe(ours);
  });
});

describe('isDrift()', () => {
  it.each([
    ['when it was in sync with this spec', aCluster().withCondition('Synced', 'True', 'AsSpecified'), true],
    ['when it had drifted from this spec', aCluster().withCondition('Synced', 'False', 'Drifted'), true],
    ['not when this spec was not reached yet', aCluster().withCondition('Synced', 'False', 'Differs'), false],
    ['not when the spec has changed', aCluster().withCondition('Synced', 'True', 'AsSpecified').generation(2), false],
    ['not when nothing is known', aCluster(), false],
  ])('%s', (_when, given, drift) => {
    expect(isDrift(given.subject)).toBe(drift);
  });
});

describe('clusterConditions()', () => {
  const typesAndStatuses = (...arguments_: Parameters<typeof clusterConditions>) =>
    Object.fromEntries(clusterConditions(...arguments_).map(({ type, status }) => [type, status]));

  it('keeps what was verified at this cluster', () => {
    expect(typesAndStatuses(healthy.subject, anObservation().seen)).toEqual({
      Synced: 'True',
      CredentialsSecured: 'True',
      Available: 'True',
    });
  });

  it('says nothing good of another cluster, nor of none', () => {
    for (const seen of [foreign.seen, anObservation().missing().seen])
      expect(new Set(Object.values(typesAndStatuses(healthy.subject, seen)))).toEqual(new Set(['False']));
  });

  it('knows of no server of a cluster that sleeps', () => {
    const { seen } = anObservation().status('suspended');
    expect(typesAndStatuses(healthy.subject, seen)).toMatchObject({ CredentialsSecured: 'True', Available: 'False' });
  });

  it('does not know whether a login works at another server', () => {
    const seen = anObservation().with({ endpoint: 'https://other.test:443' });
    expect(typesAndStatuses(healthy.subject, seen.seen)).toMatchObject({ Available: 'False' });
  });
});
