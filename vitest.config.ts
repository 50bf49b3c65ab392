import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Two files at once: the machines that run this have two cores. Node loads them itself, which needs no translation first. */
const shared = { pool: 'forks', maxWorkers: 2, experimental: { viteModuleRunner: false, nodeLoader: false } } as const;

/** No test measures time: these only end what hangs, also on a machine that has much else to do. */
const UNIT_TIMEOUT_MS = 30_000;

const LONG =
  /sim\/(?:every-|seeds|document)|chart\/install|process\/(?:bench|demo|guides|kill)|kube\/(?:databases|operator-bad-input)/;

/** Files that take a minute and more begin first, so that in the end no core waits for the last of them. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** Only for `npm run integration`, as building the tool takes minutes. */
const tool = process.env['INTEGRATION_TOOL'];
const integration = {
  test: {
    ...shared,
    name: 'integration',
    include: [`test/integration/${tool}/**/*.test.ts`],
    testTimeout: 300_000,
    hookTimeout: 3_600_000, // The build.
  },
};

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        // Many small files: they share the processes that run them, which take longer to begin than most files do.
        test: {
          ...shared,
          isolate: false,
          name: 'unit',
          testTimeout: UNIT_TIMEOUT_MS,
          hookTimeout: UNIT_TIMEOUT_MS,
          include: [
            'src/**/*.test.ts',
            'tools/**/*.test.ts',
            'test/unit/**/*.test.ts',
            'test/browser/**/*.test.ts',
            'test/{gitops,observing}/*.test.ts',
            'test/tidy*.test.ts',
          ],
        },
      },
      {
        // The whole operator in one process: each file has its own.
        test: {
          ...shared,
          name: 'sim',
          testTimeout: UNIT_TIMEOUT_MS,
          include: ['test/sim/**/*.test.ts'],
        },
      },
      {
        // Against a real API server, one for all files; each test makes a namespace of its own. Mostly they wait, for other processes
        // and for time that is real: three of them use both cores.
        test: {
          ...shared,
          maxWorkers: 3,
          isolate: false,
          name: 'cluster',
          include: [
            'test/chart/**/*.test.ts',
            'test/{gitops,observing}/cluster/**/*.test.ts',
            'test/kube/**/*.test.ts',
            'test/process/**/*.test.ts',
            'test/control-plane/**/*.test.ts',
          ],
          globalSetup: 'test/support/control-plane-setup.ts',
          sequence: { groupOrder: 1 }, // After the others, which say faster what is wrong.
          // What depends on other processes and on the machine may fail for their sake. npm test names what had to be run again.
          retry: 1,
          testTimeout: 120_000,
          hookTimeout: 300_000,
        },
      },
      ...(tool === undefined ? [] : [integration]),
    ],
  },
});
