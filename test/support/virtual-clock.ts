export * from '../../src/sandbox/virtual-clock.ts';
