import { systemClock } from '../base/clock.ts';
import { baseURLs } from '../config.ts';
import { askClouds } from '../plan/ask-clouds.ts';
import { markDue } from '../plan/due.ts';
import { type Document, keyIn, oursIn, type Problem, readDocuments } from '../plan/manifests.ts';
import { limited } from '../plan/outcome.ts';
import { makePlan } from '../plan/plan.ts';
import { policyOf, type ToldPolicy } from '../plan/policy.ts';
import { readObjects } from '../plan/read.ts';
import { severityOf } from '../plan/severity.ts';
import { planText } from '../plan/text.ts';
import { type Arguments, UsageError } from '../plugin/command-line/arguments.ts';
import { OUTPUT, outputOf, printed } from '../plugin/command-line/output.ts';
import { isNoNamespace } from '../plugin/inventory.ts';
import { notThere, parseTargets } from '../plugin/kinds.ts';
import { type NodeName, namesBeside, nodeName } from '../plugin/node-name.ts';
import { noneText } from '../plugin/status.ts';
import { readInput } from './input.ts';
import { onCluster } from './on-cluster.ts';
import { withOutside } from './outside.ts';

/** Used with --exit-code. */
const EXIT_CODES = { nothing: 0, changes: 2, destroys: 3, fails: 4 } as const;

/** `mooring plan`: shows what the operator would do. Writes nothing anywhere. */
export const plan = onCluster({
  name: 'plan',
  about: 'shows the steps that the operator would take, before anything is changed',
  usage: [
    '--filename cluster.yaml',
    '--filename manifests/ --exit-code',
    'databasecluster/orders',
    '--delete dbc/orders',
  ],
  takes: 'objects',
  flags: {
    filename: {
      type: 'string',
      short: 'f',
      about: 'file or folder of manifests, or - for standard input',
      multiple: true,
      values: 'files',
    },
    delete: { type: 'boolean', about: 'plan the deletion of the named objects, or of those in the files' },
    'exit-code': {
      type: 'boolean',
      about: 'exit with 2 if something would change, 3 if data or access would be destroyed, 4 if something would fail',
    },
    'allow-http': {
      type: 'boolean',
      about: 'the operator runs with --allow-http; also assumed wherever it already uses http',
    },
    'allowed-base-urls': {
      type: 'string',
      about: 'as the operator has it: base URLs that DatabaseSpaces may name, separated by commas (default: all)',
    },
    ...OUTPUT,
  },
  async parse(args, { signal }) {
    const [output, targets, paths] = [outputOf(args), parseTargets(args.words), args.texts('filename')];
    if (args.is('delete') && targets.length === 0 && paths.length === 0)
      throw new UsageError('Name the objects to delete: KIND/NAME, or --filename with their manifests');
    return {
      output,
      targets,
      paths,
      told: toldPolicyOf(args),
      files:
        paths.length === 0
          ? { documents: [], problems: [] }
          : await readDocuments(paths, () => readInput(process.stdin, signal)),
    };
  },
  async run(
    { api, namespace, reach, args, io, style },
    { output, targets, paths, told, files: { documents, problems } },
  ) {
    const isDeletion = args.is('delete');
    const named = new Set(targets.map(({ definition, name }) => nodeName(definition.kind, `${namespace}/${name}`)));
    if (isDeletion) for (const name of namesIn(documents, namespace)) named.add(name);
    const wanted = isDeletion ? { documents: [], deleted: named } : { documents, deleted: new Set<string>() };
    const read = await readObjects(api, { namespace, ...wanted }, io.signal);
    const wrong = [...problems, ...read.problems].toSorted(byPlace);
    if (wrong.length > 0) {
      io.stderr(problemsText(wrong));
      return 1;
    }
    const nodes = read.objects.map(({ definition, key }) => nodeName(definition.kind, key));
    for (const name of named) {
      if (!nodes.includes(name)) throw new Error(notThere(name, namesBeside(name, nodes), reach));
    }
    if (read.objects.length === 0) {
      const isMissing = await isNoNamespace(api, namespace, io.signal);
      if (isMissing || output === 'text') io.stderr(noneText(namespace, isMissing, undefined));
      if (isMissing || output === 'text') return isMissing ? 1 : 0;
    }
    const given = { namespace, documents, objects: read.objects, policy: policyOf(told, read.objects) };
    const { listed, notes } = await withOutside({ api, io }, (outside) => askClouds(outside, given, io.signal));
    const planned = await makePlan({ ...read, listed, told }, systemClock, io.signal);
    const asked = isDeletion ? named : new Set(namesIn(documents, namespace));
    const without = async () => makePlan({ ...(await read.asTheyAre()), listed, told }, systemClock, io.signal);
    const isChange = isDeletion || paths.length > 0;
    const whole = isChange ? await markDue(planned, asked, without) : planned;
    const shown = isDeletion || named.size === 0 ? whole : limited(whole, (name) => named.has(name));
    const all = { ...shown, notes: [...read.notes, ...notes, ...shown.notes] };
    io.stdout(output === 'text' ? planText(all, style) : printed(output, all));
    return args.is('exit-code') ? EXIT_CODES[severityOf(shown)] : 0;
  },
});

/** Only the caller can say how an operator that runs elsewhere was started. Throws UsageError. */
function toldPolicyOf(args: Arguments): ToldPolicy {
  const text = args.text('allowed-base-urls') ?? '';
  const urls = baseURLs.safeParse(text);
  if (!urls.success) throw new UsageError(`--allowed-base-urls ${urls.error.issues[0]?.message}, not "${text}"`);
  return { allowHTTP: args.is('allow-http'), allowedBaseURLs: urls.data };
}

/** Returns our objects among the documents. */
function namesIn(documents: readonly Document[], namespace: string): readonly NodeName[] {
  return oursIn(documents).map(({ manifest }) => nodeName(manifest.kind ?? '', keyIn(namespace, manifest)));
}

/** Puts document 2 before document 10; the problems of one document stay in order. */
function byPlace(one: Problem, other: Problem): number {
  return one.where.localeCompare(other.where, 'en', { numeric: true });
}

function problemsText(problems: readonly Problem[]): string {
  const lines = problems.map(({ where, text }) => `  ${where}: ${text}`);
  const manifests = new Set(problems.map(({ where }) => where)).size;
  return `${manifests} ${manifests === 1 ? 'manifest' : 'manifests'} cannot be applied:\n${lines.join('\n')}\n`;
}
