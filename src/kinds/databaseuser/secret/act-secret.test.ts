import { describe, expect, it, vi } from 'vitest';
import { readyUserBench, type UserBench, userBench } from '../../../../test/support/user-bench.ts';
import { KubeError, SECRETS } from '../../../kube/api.ts';

/* What the steps find may have changed since they were decided. */

const secretKeys = (bench: UserBench) => Object.keys(bench.secret() ?? {});

describe('the step that writes the connection Secret', () => {
  /** The server has taken the coming password, and nobody knows. */
  async function onItsWay(): Promise<UserBench> {
    const bench = await readyUserBench();
    bench.cluster.simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'lostAnswer', times: 1 });
    await bench.annotate('mooring.dev/rotate-at', '1');
    await bench.pass();
    await bench.pass();
    expect(bench.works(bench.secret()?.['nextPassword'])).toBe(true);
    return bench;
  }

  it('keeps a coming password of ours, which the server may have by now', async () => {
    const bench = await onItsWay();
    const before = bench.secret();
    await bench.editSecret('app-connection', { data: { host: 'elsewhere' } });
    await bench.act({ do: 'WriteSecret', isOwn: false });
    expect(bench.secret()).toEqual(before);
  });

  it("removes somebody else's", async () => {
    const bench = await onItsWay();
    await bench.editSecret('app-connection', { data: { nextPassword: 'put by somebody' } });
    await bench.act({ do: 'WriteSecret', isOwn: false });
    expect(secretKeys(bench)).not.toContain('nextPassword');
  });

  it('removes a key of a former template that is called as what every object has', async () => {
    const former = { constructor: '{{ password }}', PLAIN: '{{ password }}' };
    const bench = await readyUserBench({ user: { connectionSecret: { template: former } } });
    expect(secretKeys(bench)).toEqual(expect.arrayContaining(Object.keys(former)));
    await bench.edit({ connectionSecret: { template: { constructor: null, PLAIN: null } } });
    await bench.settle();
    for (const key of Object.keys(former)) expect(secretKeys(bench)).not.toContain(key);
  });

  it('creates none in place of one that was deleted meanwhile', async () => {
    const bench = await readyUserBench();
    bench.removeSecret('app-connection');
    await bench.act({ do: 'WriteSecret', isOwn: false });
    expect(bench.secret()).toBeUndefined();
  });

  it.each([
    [{ status: 403, reason: 'Forbidden' } as const, 'exceeded quota', 'exceeded quota'],
    [{ status: 409, reason: 'AlreadyExists' } as const, 'already exists', 'changed meanwhile'],
  ])('says what stands in the way of a new one: %j', async (status, answer, says) => {
    const bench = await userBench({ user: {} });
    const { kube } = bench.cluster;
    const create = kube.create.bind(kube);
    vi.spyOn(kube, 'create').mockImplementation(async (resource, ...of) => {
      if (resource === SECRETS) throw new KubeError(answer, status);
      return create(resource, ...of);
    });
    await bench.pass();
    expect(bench.condition()?.message).toContain(says);
  });
});

describe('the step that makes a connection Secret of another type anew', () => {
  const REPLACE = { do: 'ReplaceSecret' } as const;

  it('takes along what others have put onto it', async () => {
    const bench = await readyUserBench();
    const { labels = {}, annotations = {} } = bench.secretObject()?.metadata ?? {};
    const data = bench.secret() ?? {};
    const theirs = { labels: { team: 'shop' }, annotations: { note: 'theirs' } };
    const metadata = {
      labels: { ...labels, ...theirs.labels },
      annotations: { ...annotations, ...theirs.annotations },
    };
    await bench.putSecret('app-connection', { ...data, host: 'elsewhere' }, metadata);
    await bench.act(REPLACE);
    expect(bench.secretObject()).toMatchObject({ type: 'servicebinding.io/database', metadata });
    expect(bench.secret()).toEqual(data);
  });

  it('notes on it what a Secret that lost its labels and annotations does not say', async () => {
    const bench = await readyUserBench();
    const { annotations, ownerReferences } = bench.secretObject()?.metadata ?? {};
    await bench.putSecret('app-connection', bench.secret() ?? {}, { ownerReferences });
    await bench.act(REPLACE);
    expect(bench.secretObject()?.metadata).toMatchObject({
      labels: { 'mooring.dev/user': 'app', 'app.kubernetes.io/managed-by': 'mooring' },
      annotations: { 'mooring.dev/checksum': annotations?.['mooring.dev/checksum'] },
    });
  });

  it('leaves one alone that has the right type by now, and creates none', async () => {
    const bench = await readyUserBench();
    const before = bench.secretObject();
    await bench.act(REPLACE);
    expect(bench.secretObject()).toEqual(before);
    bench.removeSecret('app-connection');
    await bench.act(REPLACE);
    expect(bench.secret()).toBeUndefined();
  });
});
