export * from '../../src/sandbox/fake-kube.ts';
