import type { Command } from './commands/command.ts';
import { VERSION } from './version.ts';

/* The composition root: the only reader of the process's arguments, environment and signals. */

const CHANGES_ABOUT = {
  rotate: 'replace the password of a cluster or user by a new one now',
  suspend: 'suspend a cluster, and wait until it is',
  resume: 'resume a cluster, and wait until it runs',
  pause: 'have Mooring change nothing about an object',
  unpause: 'have Mooring go on with an object',
} as const;

/** Loaded when asked for: none pays for another's packages. */
const COMMANDS: Readonly<Record<string, { readonly about: string; readonly load: () => Promise<Command> }>> = {
  controller: { about: 'run the operator', load: async () => (await import('./commands/controller.ts')).controller },
  crds: { about: 'print the CustomResourceDefinitions', load: async () => (await import('./commands/crds.ts')).crds },
  probe: { about: 'ask an operator whether it is well', load: async () => (await import('./commands/probe.ts')).probe },
  simulate: {
    about: 'serve a simulated cloud and its database servers',
    load: async () => (await import('./commands/simulate.ts')).simulate,
  },
  demo: {
    about: 'show it all in one go, on a control plane of its own',
    load: async () => (await import('./commands/demo.ts')).demo,
  },
  status: {
    about: 'show all objects as a tree, with what blocks each',
    load: async () => (await import('./commands/status.ts')).status,
  },
  explain: {
    about: 'say of one object what is there, what is missing, why, and what to do',
    load: async () => (await import('./commands/explain.ts')).explain,
  },
  plan: {
    about: 'show the steps that the operator would take, before anything is changed',
    load: async () => (await import('./commands/plan.ts')).plan,
  },
  export: {
    about: 'print manifests for all clusters of a space',
    load: async () => (await import('./commands/export.ts')).exportSpace,
  },
  query: {
    about: 'run one query with the login of a DatabaseUser',
    load: async () => (await import('./commands/query.ts')).query,
  },
  shell: {
    about: 'take queries one after the other, with transactions',
    load: async () => (await import('./commands/shell.ts')).shell,
  },
  ...Object.fromEntries(
    (['rotate', 'suspend', 'resume', 'pause', 'unpause'] as const).map((name) => [
      name,
      { about: CHANGES_ABOUT[name], load: async () => (await import('./commands/change.ts')).change(name) },
    ]),
  ),
};

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
  const lines = Object.entries(COMMANDS).map(([name, { about }]) => `  ${name.padEnd(12)} ${about}`);
  return `mooring ${VERSION}: a Kubernetes operator for managed databases\n\nUsage: mooring COMMAND [flags]\n\n${lines.join('\n')}\n\nEach command has --help.\n`;
}

process.exitCode = await main();
