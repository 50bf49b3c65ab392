import { systemClock } from '../base/clock.ts';
import { explainText } from '../plugin/explain.ts';
import { loadChain, nodeName } from '../plugin/inventory.ts';
import { parseTarget } from '../plugin/kinds.ts';
import { onCluster } from './on-cluster.ts';

/** `mooring explain KIND/NAME`. Exit code 1 where there is no such object. */
export const explain = onCluster({
  name: 'explain',
  about: 'says of one object what is declared, what is there, what is missing, why, and what to do',
  usage: ['databasecluster/orders', 'dbu app --namespace shop'],
  takes: 'objects',
  flags: {},
  async run({ api, namespace, args, io, style }) {
    const { definition, name } = parseTarget(args.words);
    const found = await loadChain(api, definition, { namespace, name }, io.signal);
    if (found === undefined) {
      io.stderr(`${nodeName(definition.kind, `${namespace}/${name}`)} is not there\n`);
      return 1;
    }
    io.stdout(explainText(found.inventory, found.item, systemClock.now(), style));
    return 0;
  },
});
