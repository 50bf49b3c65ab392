import type { CommandTable } from './command.ts';

const CHANGES_ABOUT = {
  rotate: 'replace the password of a cluster or user with a new one now',
  suspend: 'suspend a cluster, and wait until it is suspended',
  resume: 'resume a cluster, and wait until it runs',
  pause: 'stop Mooring from changing anything about an object',
  unpause: 'let Mooring make changes for an object again',
} as const;

/** Each is loaded when asked for: none pays for another's packages. */
export const COMMANDS: CommandTable = {
  controller: { about: 'run the operator', load: async () => (await import('./controller.ts')).controller },
  crds: { about: 'print the CustomResourceDefinitions', load: async () => (await import('./crds.ts')).crds },
  probe: { about: 'ask an operator whether it is healthy', load: async () => (await import('./probe.ts')).probe },
  simulate: {
    about: 'serve a simulated cloud and its database servers',
    load: async () => (await import('./simulate.ts')).simulate,
  },
  demo: {
    about: 'show everything in one go, on a control plane of its own',
    load: async () => (await import('./demo.ts')).demo,
  },
  status: {
    about: 'show all objects as a tree, with what blocks each',
    load: async () => (await import('./status.ts')).status,
  },
  explain: {
    about: 'say what exists for one object, what is missing, why, and what to do',
    load: async () => (await import('./explain.ts')).explain,
  },
  plan: {
    about: 'show the steps that the operator would take, before anything is changed',
    load: async () => (await import('./plan.ts')).plan,
  },
  export: {
    about: 'print manifests for all clusters of a space',
    load: async () => (await import('./export.ts')).exportSpace,
  },
  query: {
    about: 'run one query with the login of a DatabaseUser',
    load: async () => (await import('./query.ts')).query,
  },
  shell: {
    about: 'run queries one after the other, with transactions',
    load: async () => (await import('./shell.ts')).shell,
  },
  completion: {
    about: 'print a script that completes commands, for bash, zsh or fish',
    load: async () => (await import('./completion.ts')).completion,
  },
  __complete: { load: async () => (await import('./completion.ts')).completeFrom(COMMANDS) },
  ...Object.fromEntries(
    (['rotate', 'suspend', 'resume', 'pause', 'unpause'] as const).map((name) => [
      name,
      { about: CHANGES_ABOUT[name], load: async () => (await import('./change.ts')).change(name) },
    ]),
  ),
};
