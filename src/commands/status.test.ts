import { expect, onTestFinished, test, vi } from 'vitest';
import type { KubeClient } from '../kube/client.ts';
import { LEASES } from '../kube/lease.ts';
import { microTime } from '../kube/object.ts';
import { parseArguments } from '../plugin/command-line/arguments.ts';
import { INTERRUPTED } from '../plugin/command-line/exit-code.ts';
import { styleFor } from '../plugin/command-line/text.ts';
import { FakeKube } from '../sandbox/fake-kube.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { status } from './status.ts';

test('status --watch lists our kinds at each drawing, and all Leases only now and then', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const kube = new FakeKube({ now: Date.now, random: createSeededRandom(1) });
  const renewed = async (namespace: string, name: string, secondsAgo: number) => {
    const spec = { holderIdentity: name, renewTime: microTime(Date.now() - secondsAgo * 1000) };
    await kube.create(LEASES, namespace, { metadata: { name }, spec });
  };
  await renewed('kube-node-lease', 'node-1', 0);
  await renewed('mooring-system', 'mooring', 300);
  const listed: string[] = [];
  const api = {
    get: async () => undefined,
    list: (...[resource, options]: Parameters<KubeClient['list']>) => {
      listed.push(resource.plural + (options.name === undefined ? '' : ` ${options.name}`));
      return kube.list(resource, options);
    },
  } as Partial<KubeClient> as KubeClient;
  const stop = new AbortController();
  const shown: string[] = [];
  const io = { stdout: (text: string) => void shown.push(text), stderr: () => {}, env: {}, signal: stop.signal };
  const args = parseArguments(['--watch'], status.definition.flags);
  const on = { api, namespace: 'shop', reach: '', args, io, style: styleFor(false), screen: undefined };
  const ended = status.definition.run(on, await status.definition.parse(args, io));
  await vi.advanceTimersByTimeAsync(8_500);
  stop.abort();
  expect(await ended).toBe(INTERRUPTED);
  const times = (what: string) => listed.filter((each) => each === what).length;
  expect([times('databaseclusters'), times('leases mooring'), times('leases')]).toEqual([5, 1, 1]);
  expect(shown).toHaveLength(5);
  for (const text of shown) expect(text).toContain('No operator seems to be running');
});
