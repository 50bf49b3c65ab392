export * from '../../src/sandbox/fake-kube-history.ts';
