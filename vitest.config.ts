import { defineConfig } from 'vitest/config';

/** Each test file in a process of its own, two at once: the machines that run this have two cores. */
const shared = { pool: 'forks', maxWorkers: 2 } as const;

/** No test measures time: these only end what hangs, also on a machine that has much else to do. */
const UNIT_TIMEOUT_MS = 30_000;

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          testTimeout: UNIT_TIMEOUT_MS,
          hookTimeout: UNIT_TIMEOUT_MS,
          include: [
            'src/**/*.test.ts',
            'tools/**/*.test.ts',
            'test/unit/**/*.test.ts',
            'test/sim/**/*.test.ts',
            'test/browser/**/*.test.ts',
            'test/{gitops,observing}/*.test.ts',
            'test/tidy*.test.ts',
          ],
        },
      },
      {
        // Against a real API server, one for all files; each test makes a namespace of its own.
        test: {
          ...shared,
          name: 'cluster',
          include: [
            'test/chart/**/*.test.ts',
            'test/{gitops,observing}/cluster/**/*.test.ts',
            'test/kube/**/*.test.ts',
            'test/process/**/*.test.ts',
            'test/control-plane/**/*.test.ts',
          ],
          globalSetup: 'test/support/control-plane-setup.ts',
          sequence: { groupOrder: 1 }, // After the unit tests, which say faster what is wrong.
          // What depends on other processes and on the machine may fail for their sake. npm test names what had to be run again.
          retry: 1,
          testTimeout: 120_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
