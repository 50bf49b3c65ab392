import { describe, expect, it } from 'vitest';
import { completionsOf, type Sources } from './completion.ts';

const sources: Sources = {
  commands: ['status', 'suspend', 'query'],
  command: async (name) =>
    ({
      status: {
        flags: { watch: { type: 'boolean', short: 'w', about: '' }, namespace: { type: 'string', about: '' } },
        takes: 'objects',
      } as const,
      plan: {
        flags: {
          filename: { type: 'string', short: 'f', about: '', values: 'files' },
          output: { type: 'string', short: 'o', about: '', values: ['json', 'yaml'] },
          'allowed-base-urls': { type: 'string', about: '' },
        },
        takes: 'objects',
      } as const,
      suspend: { flags: {}, takes: 'objects', kinds: ['databasecluster'] } as const,
      query: { flags: {}, takes: 'cluster' } as const,
    })[name],
  kinds: ['databasecluster', 'databasespace'],
  names: async (kind, connection) => {
    if (kind === 'databasespace') return [connection.join(' ')];
    return kind === 'databasecluster' ? ['orders', 'other', 'stock'] : [];
  },
};

describe('completionsOf()', () => {
  it.each([
    ['commands', [''], ['query', 'status', 'suspend']],
    ['commands that begin like this', ['su'], ['suspend']],
    ['flags', ['status', '--w'], ['--watch']],
    ['kinds', ['status', 'databasec'], ['databasecluster/']],
    ['names of the kind', ['status', 'databasecluster/o'], ['databasecluster/orders', 'databasecluster/other']],
    ['names of clusters if only these are accepted', ['query', ''], ['orders', 'other', 'stock']],
    ['nothing after these', ['query', 'orders', ''], []],
    ['commands after the flags of a connection', ['-n', 'shop', 'su'], ['suspend']],
    ['names after them, wherever the flags are', ['--context=c', 'query', '-n', 'shop', 'st'], ['stock']],
    [
      'names from the cluster that the flags point to',
      ['--context=c', 'status', '-n', 'shop', '--kubeconfig', 'k', 'databasespace/'],
      ['databasespace/--context=c -n shop --kubeconfig k'],
    ],
    ['kinds that the command works on', ['suspend', ''], ['databasecluster/']],
    ['files after a flag that names one', ['plan', '-f', ''], 'files'],
    ['files before the command too', ['--kubeconfig', 'k'], 'files'],
    ['the values of a flag', ['plan', '--output', ''], ['json', 'yaml']],
    ['the values of a flag that begin like this', ['plan', '-n', 'shop', '-o', 'y'], ['yaml']],
    ['nothing for any other value of a flag', ['plan', '--allowed-base-urls', ''], []],
    ['objects after a flag that takes no value', ['status', '-w', 'databases'], ['databasespace/']],
    ['nothing for a word that is none of these', ['status', '--namespace', ''], []],
    ['nothing for a command that does not exist', ['nothing', ''], []],
  ])('offers %s', async (_what, words, expected) => {
    expect(await completionsOf(words, sources)).toEqual(expected);
  });
});
