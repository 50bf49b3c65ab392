import { sleep, systemClock } from '../base/clock.ts';
import { CHANGES, type Change, checkKind, failureOf, progressOf } from '../plugin/change.ts';
import { type Item, itemOf } from '../plugin/inventory.ts';
import { parseTarget, resourceOf } from '../plugin/kinds.ts';
import type { Command } from './command.ts';
import { type OnCluster, onCluster } from './on-cluster.ts';

const LOOK_MS = 500;
const DEFAULT_TIMEOUT_MS = 15 * 60_000;

/** `mooring rotate|suspend|resume|pause|unpause KIND/NAME`: makes the change, waits, and says the outcome. */
export function change(name: string): Command {
  const wanted = CHANGES[name];
  if (wanted === undefined) throw new Error(`There is no change "${name}"`);
  return onCluster({
    name,
    about: wanted.about,
    usage: [wanted.kinds.map((kind) => `${kind.toLowerCase()}/NAME`).join(' | ')],
    takes: 'objects',
    flags: {
      'no-wait': { type: 'boolean', about: 'do not wait for the outcome' },
    },
    run: (on) => make(name, wanted, on),
  });
}

async function make(name: string, wanted: Change, { api, namespace, args, io, style }: OnCluster): Promise<number> {
  const target = parseTarget(args.words);
  checkKind(name, wanted, target.definition);
  const resource = resourceOf(target.definition);
  const ref = { namespace, name: target.name };
  const value = new Date(systemClock.now()).toISOString();
  const changed = await api.patch(resource, ref, wanted.patch(value), undefined, io.signal);
  if (args.is('no-wait')) return 0;
  const before = itemOf(target.definition, changed);
  let item: Item = before;
  let told = '';
  const deadline = systemClock.monotonic() + DEFAULT_TIMEOUT_MS;
  while (!io.signal.aborted && systemClock.monotonic() < deadline) {
    const outcome = wanted.outcome(item, value, before);
    if (outcome !== undefined) {
      io.stdout(`${style.good('✓')} ${outcome}\n`);
      return 0;
    }
    const failure = failureOf(item);
    if (failure !== undefined) {
      io.stderr(`${style.bad('✗')} ${failure}\n`);
      return 1;
    }
    const progress = progressOf(item);
    if (progress !== told) io.stdout(`${style.dim(progress)}\n`);
    told = progress;
    await sleep(systemClock, LOOK_MS, io.signal);
    const found = await api.get(resource, ref, io.signal);
    if (found === undefined) throw new Error(`${target.definition.kind} "${target.name}" is gone`);
    item = itemOf(target.definition, found);
  }
  io.stderr(`It is not done yet; the last word was: ${told}\n`);
  return 1;
}
