import { shellSetup } from '../../../tools/control-plane/shell-setup.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { runApplication, SCRIPT } from './application.ts';
import type { Environment } from './cluster-access.ts';
import type { Screen } from './screen.ts';
import { APPLIED, type Glimpse, Timeline } from './timeline.ts';
import { SAMPLE_URL, sampleManifests, type World, watchResources } from './world.ts';

export interface StoryOptions {
  /** Nobody stays to look: end when the outcome is clear. */
  readonly once: boolean;
  readonly timeoutMs: number;
  readonly env: Environment;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly screen: Screen;
  readonly stack: AsyncDisposableStack;
}

/** What the samples create. */
const SUBJECTS: readonly string[] = [
  'DatabaseSpace production',
  'DatabaseCluster orders',
  'DatabaseUser app',
  'Database orders',
];
const SUBJECT_WIDTH = Math.max(...SUBJECTS.map((subject) => subject.length));
const WORD_WIDTH = 28;

/**
 * Applies the samples, shows what becomes of them and what to do next, and from then on each change, until the stack ends.
 * Resolves to what is wrong, which was shown; undefined if all is Ready. Throws when aborted.
 */
export async function tell(world: World, options: StoryOptions): Promise<string | undefined> {
  const { clock, screen, stack, signal } = options;
  const timeline = new Timeline();
  const inNamespace = `--namespace=${world.namespace}`;
  const changed = { call: () => {} };
  let begin = clock.monotonic();
  const seconds = () => `${((clock.monotonic() - begin) / 1000).toFixed(1)} s`;
  const show = (what: string, meaning: Parameters<Screen['paint']>[0], word: string, more: string) => {
    const start = `  ${seconds().padStart(7)}  ${what.padEnd(SUBJECT_WIDTH)}  `;
    const line = `${start}${word.padEnd(WORD_WIDTH)} ${more}`.trimEnd();
    const rest = (meaning === 'bad' ? line : screen.fit(line)).slice(start.length);
    screen.line(`${start}${screen.paint(meaning, rest.slice(0, word.length))}${rest.slice(word.length)}`);
  };

  screen.heading('What a user applies, and what happens');
  await watchResources(world, clock, stack, (before, after) => {
    if (after === undefined) {
      if (before !== undefined && timeline.forget(before))
        show(`${before.kind} ${before.metadata.name}`, 'dim', 'Gone', '');
      return;
    }
    const news = timeline.see(after);
    for (const each of news.filter(({ word }) => word !== APPLIED))
      show(each.subject, each.meaning, wordOf(each), each.message);
    if (news.length > 0) changed.call();
  });
  begin = clock.monotonic();
  for (const { path, text, objects } of sampleManifests(world.cloudURL)) {
    show('kubectl apply', 'strong', path, objects.join(', '));
    await world.kubectl(['apply', '--filename=-', inNamespace], { input: text, signal });
  }
  const problem = await outcome(world, timeline, changed, options);
  signal.throwIfAborted();
  const verdict =
    problem === undefined
      ? screen.paint('good', `Ready after ${seconds()}.`)
      : `${screen.paint('bad', 'Not Ready:')} ${problem}`;
  screen.line(`\n${verdict}`);
  if (problem === undefined) await showApplication(world, options);
  else screen.line(`\nThe last lines of the operator's log:\n${world.operator.lastLines()}`);
  screen.heading('$ kubectl get mooring');
  screen.line((await world.kubectl(['get', 'mooring', inNamespace], { signal })).trimEnd());
  if (!options.once) screen.line(goOn(world, options));
  return problem;
}

/** Shows what all of it is for. */
async function showApplication({ kubectl, namespace }: World, { screen, signal }: StoryOptions): Promise<void> {
  screen.line('The cluster has a login of its own, in Secret orders-admin; the one it came with is refused.');
  const { query, answer } = await runApplication(kubectl, namespace, signal);
  screen.heading(`An application that knows nothing but Secret app-connection (${SCRIPT})`);
  screen.line(screen.paint('dim', query.trimEnd().replace(/^/gm, '  ')));
  screen.line(answer.trimEnd().replace(/^/gm, '  → '));
}

function wordOf({ word, state }: Glimpse): string {
  return state === '' ? word : `${word} (${state})`;
}

/** Resolves to undefined when all is Ready, or to why it is not if time runs out, nothing more can be expected, or it was aborted. */
async function outcome(
  world: World,
  timeline: Timeline,
  changed: { call: () => void },
  { once, timeoutMs, clock, signal }: StoryOptions,
): Promise<string | undefined> {
  const ended = new AbortController();
  const over = AbortSignal.any([signal, ended.signal]);
  const verdict = (): 'ready' | 'stalled' | undefined => {
    const glimpses = timeline.all();
    if (once && glimpses.some(({ stalled }) => stalled)) return 'stalled';
    const isReady = (subject: string) =>
      glimpses.some((glimpse) => glimpse.subject === subject && glimpse.word === 'Ready');
    return SUBJECTS.every(isReady) ? 'ready' : undefined;
  };
  const settled = new Promise<'ready' | 'stalled'>((resolve) => {
    changed.call = () => {
      const found = verdict();
      if (found !== undefined) resolve(found);
    };
    changed.call();
  });
  const how = await Promise.race([
    settled,
    world.operator.ended.then(() => 'ended' as const),
    sleep(clock, timeoutMs, over).then(() => 'timeout' as const),
  ]);
  ended.abort();
  if (how === 'ready') return undefined;
  const reasons = timeline
    .all()
    .filter(({ word }) => word !== 'Ready')
    .map((glimpse) => `\n  ${glimpse.subject}: ${wordOf(glimpse)}: ${glimpse.message}`);
  const why = {
    stalled: 'a person must act',
    ended: 'the operator has ended',
    timeout: `time is up (${timeoutMs / 1000} s)`,
  };
  return `${why[how]}${reasons.join('')}`;
}

function goOn({ controlPlane, namespace, cloudURL, operator }: World, { env }: StoryOptions): string {
  const inNamespace = namespace === 'default' ? '' : ` --namespace=${namespace}`;
  const cluster = `databasecluster/orders${inNamespace}`;
  const lines: readonly (readonly [string, string])[] = [
    ['everything as a tree', `kubectl mooring status${inNamespace}`],
    ['what is declared, what exists, and why', `kubectl mooring explain ${cluster}`],
    ['more storage', `kubectl patch ${cluster} --type=merge --patch='{"spec":{"storageSizeGB":200}}'`],
    ['a new password for the application', `kubectl mooring rotate databaseuser/app${inNamespace}`],
    ['suspend it', `kubectl mooring suspend ${cluster}`],
    ['resume it', `kubectl mooring resume ${cluster}`],
    ['delete the object: the cluster stays in the cloud', `kubectl delete ${cluster}`],
    [
      'manifests for clusters in the cloud that have no object',
      `kubectl mooring export production --unmanaged${inNamespace}`,
    ],
  ];
  const { port } = new URL(SAMPLE_URL);
  const moved = [
    `Port ${port} is in use: the cloud is at ${cloudURL}.`,
    `Do not apply deploy/samples/space.yaml as it is: it names ${port}. Put that address into it first.\n`,
  ];
  return [
    '\nGo on in another terminal. What happens is shown here:\n',
    `  ${shellSetup(controlPlane, env['PATH'])}\n`,
    ...(cloudURL === SAMPLE_URL ? [] : moved),
    ...lines.map(([about, command]) => `  # ${about}\n  ${command}`),
    '',
    `The cloud, with its clusters and faults to try:  ${cloudURL}/`,
    `The operator's log:  ${operator.log}`,
    `To see what happens when the operator dies midway:  kill -9 ${operator.pid}`,
    'Ctrl-C ends everything and removes it.\n',
  ].join('\n');
}
