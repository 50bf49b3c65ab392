import { renderCrds } from '../crdgen.ts';
import type { Command } from './command.ts';

/** `mooring crds`: prints the CustomResourceDefinitions, the same text as crds/. */
export const crds: Command = async (argv, io) => {
  const asked = argv.length === 1 && (argv[0] === '--help' || argv[0] === '-h');
  if (argv.length > 0) {
    const usage =
      'mooring crds prints the CustomResourceDefinitions, to be piped to kubectl apply --server-side -f -\n';
    if (asked) io.stdout(usage);
    else io.stderr(`${usage}It takes no arguments.\n`);
    return asked ? 0 : 2;
  }
  io.stdout(renderCrds());
  return 0;
};
