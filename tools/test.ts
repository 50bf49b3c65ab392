// npm test: runs the tests as vitest does, and prints their counts in a last line.
import { parseCLI, startVitest, type Vitest } from 'vitest/node';

const { filter, options } = parseCLI(['vitest', 'run', ...process.argv.slice(2)]);
const vitest = await startVitest(filter, { ...options, run: true, watch: false });
await vitest.close();
const { passed, failed, skipped } = count(vitest);
if (passed + failed === 0) console.error('No test ran');
for (const name of flaky(vitest))
  console.log(`Passed only when it was run again, so mend it or what it tests: ${name}`);
// Whatever fails the run, such as a setup for all files, must not show as "0 failed".
const failures = failed > 0 || (passed > 0 && !process.exitCode) ? failed : 1;
console.log(`${passed} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(failures === 0 ? 0 : 1);

function flaky({ state }: Vitest): readonly string[] {
  return state
    .getTestModules()
    .flatMap((module) => [...module.children.allTests()])
    .filter((test) => test.diagnostic()?.flaky)
    .map((test) => `${test.module.relativeModuleId}: ${test.fullName}`);
}

/** A file that could not run and an error outside any test each count as a failed test. */
function count({ state }: Vitest): { passed: number; failed: number; skipped: number } {
  const modules = state.getTestModules().map((module) => {
    const states = [...module.children.allTests()].map((test) => test.result().state);
    const of = (wanted: string) => states.filter((one) => one === wanted).length;
    const failed = Math.max(of('failed'), module.state() === 'failed' ? 1 : 0);
    return { passed: of('passed'), failed, skipped: of('skipped') };
  });
  const sum = (key: 'passed' | 'failed' | 'skipped') => modules.reduce((total, module) => total + module[key], 0);
  return {
    passed: sum('passed'),
    failed: sum('failed') + state.getUnhandledErrors().length,
    skipped: sum('skipped'),
  };
}
