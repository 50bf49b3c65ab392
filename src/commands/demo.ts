import type { Command } from './command.ts';

/** `mooring demo`: a control plane, a simulated cloud and the operator, and a cluster that becomes Ready. */
export const demo: Command = async (argv, io) => {
  if (argv.includes('--help') || argv.includes('-h')) {
    io.stdout('Usage: mooring demo [flags]\n');
    return 0;
  }
  io.stderr('The demo is not there yet.\n');
  return 1;
};
