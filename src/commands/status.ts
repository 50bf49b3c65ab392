import { systemClock } from '../base/clock.ts';
import { isPaused, mistakesIn } from '../kube/annotations.ts';
import { ALL_NAMESPACES, UsageError } from '../plugin/command-line/arguments.ts';
import { OUTPUT, type Output, outputOf, printed } from '../plugin/command-line/output.ts';
import { type Inventory, isNoNamespace, loadInventory } from '../plugin/inventory.ts';
import { nameOf, readinessOf } from '../plugin/item.ts';
import { notThere, parseTarget } from '../plugin/kinds.ts';
import { namesBeside, nodeName } from '../plugin/node-name.ts';
import { operatorSign, operatorWatch } from '../plugin/operator-sign.ts';
import { narrowed, noneText, statusText, warningOf } from '../plugin/status.ts';
import { blockerOf } from '../plugin/tree.ts';
import { watchDrawing } from '../plugin/watch.ts';
import { type OnCluster, onCluster } from './on-cluster.ts';

/** `mooring status`: prints all objects as a tree, with what blocks each. Exit code 1 if something is not Ready. */
export const status = onCluster({
  name: 'status',
  about: 'shows all objects as a tree, with readiness, age and the first thing that blocks each',
  usage: ['', 'databasecluster/orders', '--all-namespaces --watch', '--output json'],
  takes: 'objects',
  flags: {
    ...ALL_NAMESPACES,
    ...OUTPUT,
    watch: { type: 'boolean', short: 'w', about: 'redraw every two seconds, until Ctrl-C' },
  },
  parse(args) {
    const output = outputOf(args);
    if (args.is('watch') && output !== 'text') throw new UsageError('--watch shows text only: leave out --output');
    return { output, target: args.words.length === 0 ? undefined : parseTarget(args.words) };
  },
  async run(on, asked) {
    const { args, io, api } = on;
    const { signal, stdout } = io;
    if (!args.is('watch')) {
      const { code, stdout, stderr } = await drawn(on, asked, () => operatorSign(api, systemClock, signal));
      io.stdout(stdout);
      io.stderr(stderr);
      return code;
    }
    const sign = operatorWatch({ api, clock: systemClock, signal });
    const draw = async () => {
      const { stdout, stderr } = await drawn(on, asked, sign);
      return stdout + stderr;
    };
    return watchDrawing(draw, { clock: systemClock, signal, stdout, screen: on.screen });
  },
});

interface Asked {
  readonly output: Output;
  readonly target: ReturnType<typeof parseTarget> | undefined;
}

interface Drawn {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function drawn(
  on: OnCluster,
  { output, target }: Asked,
  sign: () => Promise<string | undefined>,
): Promise<Drawn> {
  const { api, namespace, reach, args, io, style } = on;
  const scope = args.is('all-namespaces') ? undefined : namespace;
  const only = target === undefined ? undefined : nodeName(target.definition.kind, `${namespace}/${target.name}`);
  const [found, operator] = await Promise.all([loadInventory(api, scope, io.signal), sign()]);
  const all = { ...found, operator };
  const { refused = [] } = all;
  if (only !== undefined && !all.items.some((item) => nameOf(item) === only)) {
    const unseen = refused.find((message) => message.includes(` ${target?.definition.plural}:`));
    const stderr =
      unseen === undefined
        ? notThere(only, namesBeside(only, all.items.map(nameOf)), reach)
        : `${only} does not exist, or you lack a right: ${unseen}`;
    return { code: 1, stdout: '', stderr: `${stderr}\n` };
  }
  const inventory = only === undefined ? all : narrowed(all, only);
  if (inventory.items.length === 0 && refused.length === 0) {
    const isMissing = scope !== undefined && (await isNoNamespace(api, scope, io.signal));
    const none = noneText(scope, isMissing, operator);
    const code = isMissing ? 1 : 0;
    if (output === 'text') return { code, stdout: '', stderr: none };
    return { code, stdout: printed(output, forPrograms(inventory)), stderr: isMissing ? none : '' };
  }
  const code = refused.length > 0 || inventory.items.some((item) => blockerOf(inventory, item) !== undefined) ? 1 : 0;
  const stdout =
    output === 'text'
      ? statusText(inventory, systemClock.now(), style, on.columns?.())
      : printed(output, forPrograms(inventory));
  return { code, stdout, stderr: '' };
}

function forPrograms(inventory: Inventory): object {
  const { refused = [], operator = null } = inventory;
  const items = inventory.items.map((item) => {
    const { kind, metadata } = item;
    const { status: ready, reason } = readinessOf(item);
    return {
      kind,
      namespace: metadata.namespace,
      name: metadata.name,
      createdAt: metadata.creationTimestamp,
      parent: item.parent ?? null,
      ready,
      reason,
      paused: isPaused(metadata),
      blockedBy: blockerOf(inventory, item) ?? null,
      warning: warningOf(item) ?? mistakesIn(kind, metadata) ?? null,
    };
  });
  return { items, refused, operator };
}
