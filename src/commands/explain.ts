import { systemClock } from '../base/clock.ts';
import { OUTPUT, outputOf, printed } from '../plugin/command-line/output.ts';
import { explainText, explanationOf } from '../plugin/explain.ts';
import { loadChain, notThereText } from '../plugin/inventory.ts';
import { parseTarget } from '../plugin/kinds.ts';
import { operatorSign } from '../plugin/operator-sign.ts';
import { onCluster } from './on-cluster.ts';

/** `mooring explain KIND/NAME`. Exit code 1 if there is no such object. */
export const explain = onCluster({
  name: 'explain',
  about: 'says what is declared for one object, what exists, what is missing, why, and what to do',
  usage: ['databasecluster/orders', 'dbu app --namespace shop', 'dbd/orders --output json'],
  takes: 'objects',
  flags: OUTPUT,
  parse: (args) => ({ output: outputOf(args), ...parseTarget(args.words) }),
  async run({ api, namespace, reach, io, style }, { output, definition, name }) {
    const [found, operator] = await Promise.all([
      loadChain(api, definition, { namespace, name }, io.signal),
      operatorSign(api, systemClock, io.signal),
    ]);
    if (found === undefined) {
      io.stderr(`${await notThereText(api, definition, { namespace, name }, io.signal, reach)}\n`);
      return 1;
    }
    const { item } = found;
    const inventory = { ...found.inventory, operator, reach };
    io.stdout(
      output === 'text'
        ? explainText(inventory, item, systemClock.now(), style)
        : printed(output, explanationOf(inventory, item)),
    );
    return 0;
  },
});
