import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

const HELP = { help: { type: 'boolean', short: 'h' } } as const;

/** The tool's arguments. Ends the process if help is asked for or an argument is wrong. */
export function argumentsOrExit<const T extends ParseArgsOptionsConfig>(options: T, usage: string) {
  try {
    const { values } = parseArgs<{ options: T & typeof HELP }>({ options: { ...options, ...HELP } });
    if ((values as { readonly help?: boolean }).help !== true) return values;
    process.stdout.write(usage);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    process.exit(2);
  }
  return process.exit(0);
}
