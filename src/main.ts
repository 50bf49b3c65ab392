import { fileURLToPath } from 'node:url';
import { didYouMean } from './base/nearest.ts';
import type { Command } from './commands/command.ts';
import { COMMANDS } from './commands/table.ts';
import { commandFirst, connectionIn, insteadOf } from './plugin/command-line/arguments.ts';
import { UNREAD } from './plugin/command-line/exit-code.ts';
import { VERSION } from './version.ts';

/* The composition root: the only reader of the process's arguments, environment and signals. */

async function main(): Promise<number> {
  const [name = '', ...argv] = commandFirst(process.argv.slice(2));
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => abort.abort());
  let lost: number | undefined;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // The reader has gone, as `head` does: there is nobody to go on for, and nothing to complain about. A full disk is reported.
      if (error.code !== 'EPIPE' && lost === undefined && stream === process.stdout)
        process.stderr.write(`mooring cannot write its output: ${error.message}\n`);
      lost ??= error.code === 'EPIPE' ? UNREAD : 1;
      // Even if it comes after the command has ended.
      process.exitCode = lost;
      abort.abort();
    });
  }
  if (name === '--version' || name === 'version') {
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    const asked = name === '' || name === '--help' || name === '-h' || name === 'help';
    (asked ? process.stdout : process.stderr).write(asked ? usage() : noCommand(name));
    return asked && name !== '' ? 0 : 2;
  }
  let run: Command;
  try {
    run = await command.load();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && NOT_FOUND.has(error.code))) throw error;
    process.stderr.write(`mooring ${name} ${notFound(error.message)}\n`);
    return 1;
  }
  const code = await run(argv, {
    stdout: (text) => lost !== undefined || process.stdout.write(text),
    stderr: (text) => lost !== undefined || process.stderr.write(text),
    isTerminal: process.stdout.isTTY === true,
    rows: () => process.stdout.rows,
    columns: () => process.stdout.columns,
    env: process.env,
    signal: abort.signal,
  });
  return lost ?? code;
}

const NOT_FOUND: ReadonlySet<unknown> = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']);

function notFound(message: string): string {
  const [, missing] = /^Cannot find (?:package|module) '((?:@[^/']+\/)?[^./'][^/']*)/.exec(message) ?? [];
  // The image has what runs, but not the tools that build and start a control plane.
  if (missing === undefined) return `is not part of this installation (${message}): run it in a checkout`;
  const root = fileURLToPath(new URL('..', import.meta.url));
  return `needs the npm package ${missing}, which is not installed: run "npm install --omit=dev" in ${root}`;
}

function noCommand(word: string): string {
  if (connectionIn([word]).flags.length > 0) return 'Name a command.\nTry mooring --help.\n';
  // The value of a flag may be a token.
  const name = word.startsWith('-') ? (word.split('=')[0] ?? '') : word;
  const names = Object.entries(COMMANDS).flatMap(([each, { about }]) => (about === undefined ? [] : [each]));
  return `There is no command "${name}".${insteadOf(name) || didYouMean(name, names)}\nTry mooring --help.\n`;
}

function usage(): string {
  const lines = Object.entries(COMMANDS).flatMap(([name, { about }]) =>
    about === undefined ? [] : [`  ${name.padEnd(12)} ${about}`],
  );
  return `mooring ${VERSION}: a Kubernetes operator for managed databases\n\nUsage: mooring COMMAND [flags]\n\n${lines.join('\n')}\n\nEach command has --help.\n`;
}

const code = await main();
// An exit code that a failed write has set stays.
process.exitCode ??= code;
