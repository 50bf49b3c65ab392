import { describe, expect, it } from 'vitest';
import { completionsOf, type Sources } from './completion.ts';

const sources: Sources = {
  commands: ['status', 'suspend', 'query'],
  command: async (name) =>
    ({
      status: { flags: ['watch', 'namespace'], takes: 'objects' } as const,
      query: { flags: [], takes: 'cluster' } as const,
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
    ['nothing for a word that is none of these', ['status', '--namespace', ''], []],
    ['nothing for a command that does not exist', ['nothing', ''], []],
  ])('offers %s', async (_what, words, expected) => {
    expect(await completionsOf(words, sources)).toEqual(expected);
  });
});
