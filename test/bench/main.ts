// npm run bench: measures the operator. Figures go to standard output as a table, and to a file as JSON.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../src/base/errors.ts';
import { chartOf } from './chart.ts';
import { type Figure, isMet } from './figure.ts';
import { canLookAtProcesses } from './measure/process.ts';
import { HELP, type Options, parseOptions } from './options.ts';
import { readReport, reportOf, tableOf, writeReport } from './report.ts';
import { measure } from './run.ts';

const RESULTS = fileURLToPath(new URL('../../bench-results', import.meta.url));
const log = (line: string) => process.stderr.write(`${line}\n`);
const aborted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => aborted.abort());

async function main(args: readonly string[]): Promise<number> {
  let options: Options;
  try {
    options = parseOptions(args);
  } catch (error) {
    log(`${messageOf(error)}\n\n${HELP}`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (!canLookAtProcesses) log('CPU and memory are measured on Linux only: those figures are left out');
  const startedAt = new Date();
  const earlier = options.compare === undefined ? undefined : readReport(options.compare).figures;
  const own: Figure[] = [];
  const others: Figure[] = [];
  let failure: unknown;
  try {
    const { other } = options;
    const { signal } = aborted;
    for await (const { figures } of measure({ options, other: undefined, log, signal })) own.push(...figures);
    if (other !== undefined) {
      log(`Now the other operator: ${other.command}`);
      for await (const { figures } of measure({ options, other, log, signal })) others.push(...figures);
    }
  } catch (error) {
    failure = error;
  }
  const beside = { earlier, other: options.other === undefined ? undefined : others };
  process.stdout.write(tableOf(own, beside));
  const path = options.json ?? `${RESULTS}/${startedAt.toISOString().replaceAll(':', '-').slice(0, 19)}.json`;
  writeReport(path, reportOf(startedAt, args, own, others));
  const picture = path.replace(/(\.json)?$/, '.svg');
  writeFileSync(picture, chartOf(own, `Measured ${startedAt.toISOString().slice(0, 16)}`, beside));
  const missed = own.filter((figure) => isMet(figure) === false).length;
  const judged = own.filter((figure) => isMet(figure) !== undefined).length;
  log(`${judged - missed} of ${judged} targets met. Figures: ${path}, picture: ${picture}`);
  if (failure === undefined) return 0;
  log(`Cannot measure all of it: ${messageOf(failure)}`);
  return 1;
}

process.exitCode = await main(process.argv.slice(2));
