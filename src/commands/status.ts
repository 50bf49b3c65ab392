import { sleep, systemClock } from '../base/clock.ts';
import { ALL_NAMESPACES } from '../plugin/arguments.ts';
import { type Inventory, isPaused, loadInventory, nameOf, nodeName } from '../plugin/inventory.ts';
import { parseTarget } from '../plugin/kinds.ts';
import { OUTPUT, outputOf, printed } from '../plugin/output.ts';
import { narrowed, statusText } from '../plugin/status.ts';
import { blockerOf } from '../plugin/tree.ts';
import { type OnCluster, onCluster } from './on-cluster.ts';

const WATCH_MS = 2_000;
/** Moves to the top left, and clears what is below. */
const REDRAW = '\u001B[H\u001B[J';

/** `mooring status`: all objects as a tree, with what blocks each. Exit code 1 where something is not Ready. */
export const status = onCluster({
  name: 'status',
  about: 'shows all objects as a tree, with readiness, age and the first thing that blocks each',
  usage: ['', 'databasecluster/orders', '--all-namespaces --watch', '--output json'],
  takes: 'objects',
  flags: {
    ...ALL_NAMESPACES,
    ...OUTPUT,
    watch: { type: 'boolean', short: 'w', about: 'draw again every two seconds, until Ctrl-C' },
  },
  async run(on) {
    if (!on.args.is('watch')) return show(on, '');
    const { signal } = on.io;
    let code = 0;
    while (!signal.aborted) {
      try {
        code = await show(on, on.io.isTerminal === true ? REDRAW : '');
      } catch (error) {
        // Ctrl-C is how it ends.
        if (!signal.aborted) throw error;
      }
      await sleep(systemClock, WATCH_MS, signal);
    }
    return code;
  },
});

async function show({ api, namespace, args, io, style }: OnCluster, before: string): Promise<number> {
  const output = outputOf(args);
  const target = args.words.length === 0 ? undefined : parseTarget(args.words);
  const scope = args.is('all-namespaces') ? undefined : namespace;
  const only = target === undefined ? undefined : nodeName(target.definition.kind, `${namespace}/${target.name}`);
  const all = await loadInventory(api, scope, io.signal);
  const { refused = [] } = all;
  if (only !== undefined && !all.items.some((item) => nameOf(item) === only)) {
    io.stderr(`${only} is not there${refused.map((message) => `, or you lack a right: ${message}`).join('')}\n`);
    return 1;
  }
  const inventory = only === undefined ? all : narrowed(all, only);
  io.stdout(
    before +
      (output === 'text' ? statusText(inventory, systemClock.now(), style) : printed(output, forPrograms(inventory))),
  );
  return refused.length > 0 || inventory.items.some((item) => blockerOf(inventory, item) !== undefined) ? 1 : 0;
}

function forPrograms(inventory: Inventory): object {
  const { refused = [] } = inventory;
  const items = inventory.items.map((item) => {
    const { kind, metadata, conditions } = item;
    const ready = conditions.find(({ type }) => type === 'Ready');
    return {
      kind,
      namespace: metadata.namespace,
      name: metadata.name,
      ready: ready?.status ?? 'Unknown',
      reason: ready?.reason ?? '',
      paused: isPaused(item),
      blockedBy: blockerOf(inventory, item) ?? null,
    };
  });
  return { items, refused };
}
