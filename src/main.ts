import type { Command } from './commands/command.ts';
import { COMMANDS } from './commands/table.ts';
import { VERSION } from './version.ts';

/* The composition root: the only reader of the process's arguments, environment and signals. */

async function main(): Promise<number> {
  const [name = '', ...argv] = process.argv.slice(2);
  if (name === '--version' || name === 'version') {
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    const asked = name === '' || name === '--help' || name === '-h' || name === 'help';
    (asked ? process.stdout : process.stderr).write(asked ? usage() : `There is no command "${name}".\n\n${usage()}`);
    return asked && name !== '' ? 0 : 2;
  }
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => abort.abort());
  let run: Command;
  try {
    run = await command.load();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error;
    // The image holds what runs, and not the tools that build and start a control plane.
    process.stderr.write(`mooring ${name} is not part of this installation (${error.message}): run it in a checkout\n`);
    return 1;
  }
  return run(argv, {
    stdout: (text) => process.stdout.write(text),
    stderr: (text) => process.stderr.write(text),
    isTerminal: process.stdout.isTTY === true,
    env: process.env,
    signal: abort.signal,
  });
}

function usage(): string {
  const lines = Object.entries(COMMANDS).flatMap(([name, { about }]) =>
    about === undefined ? [] : [`  ${name.padEnd(12)} ${about}`],
  );
  return `mooring ${VERSION}: a Kubernetes operator for managed databases\n\nUsage: mooring COMMAND [flags]\n\n${lines.join('\n')}\n\nEach command has --help.\n`;
}

process.exitCode = await main();
