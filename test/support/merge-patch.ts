export * from '../../src/sandbox/merge-patch.ts';
