import { renderCrds } from '../crdgen.ts';
import type { Command } from './command.ts';

/** `mooring crds`: prints the CustomResourceDefinitions, the same text as crds/. */
export const crds: Command = async (argv, io) => {
  if (argv.length > 0) {
    io.stderr('mooring crds takes no arguments: pipe what it prints to kubectl apply -f -\n');
    return 2;
  }
  io.stdout(renderCrds());
  return 0;
};
