import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mustKubectl } from '../support/control-plane.ts';
import { type Desk, type KubectlBench, startKubectlBench } from '../support/kubectl-bench.ts';
import { database, space, user } from '../support/manifests.ts';
import { accountWith, type Rule } from '../support/operator-rights.ts';
import { mooring, mooringHere } from '../support/plugin.ts';

/* Every command of the plugin against an API server, an operator and a cloud in processes of their own: with rights, without, and called wrongly. */

let bench: KubectlBench;

beforeAll(async () => {
  bench = await startKubectlBench(3);
});

afterAll(() => bench?.close());

/** A space, a cluster, a user and a database, all Ready. The user is named `app`, the others have the name of the cluster. */
async function settled(context: Parameters<KubectlBench['desk']>[0]): Promise<Desk> {
  const desk = await bench.desk(context);
  const { id } = desk;
  const schema = [{ inline: 'define attribute name, value string; entity person, owns name;' }];
  await desk.begin();
  await desk.apply(user({ clusterRef: { name: id } }), database({ clusterRef: { name: id }, schema }, {}, id));
  await desk.ready();
  await mustKubectl(['wait', '--for=condition=Ready', 'dbu/app', `dbd/${id}`, '--timeout=60s', '-n', desk.namespace]);
  return desk;
}

type Row = readonly [args: readonly string[], code: number, told: RegExp, input?: string];

/** Runs the rows, which do not affect each other. Commands with standard input run in a process of their own. */
async function check(desk: Desk, rows: readonly Row[], kubeconfig?: string): Promise<void> {
  const answers = await Promise.all(
    rows.map(([args, , , input]) =>
      input === undefined
        ? mooringHere(desk.namespace, args, kubeconfig)
        : mooring(desk.namespace, args, { input, ...(kubeconfig === undefined ? {} : { kubeconfig }) }),
    ),
  );
  for (const [index, [args, code, told]] of rows.entries()) {
    const { stdout = '', stderr = '', ...answer } = answers[index] ?? {};
    const text = `${stdout}${stderr}`;
    expect.soft(text, args.join(' ')).toMatch(told);
    expect.soft(answer, `${args.join(' ')}\n${text}`).toMatchObject({ code });
    // People never get a stack trace.
    expect.soft(text, args.join(' ')).not.toMatch(/^ {4}at /m);
  }
}

const changed = (desk: Desk, spec: Readonly<Record<string, unknown>>) => JSON.stringify(desk.cluster(spec));
const another = (desk: Desk, spec: Readonly<Record<string, unknown>>) =>
  JSON.stringify({ ...desk.cluster(spec), metadata: { name: `${desk.id}-2` } });
const byHTTP = JSON.stringify({ ...space({ baseURL: 'http://cloud.example.com' }), metadata: { name: 'by-http' } });
const larger = (desk: Desk) => changed(desk, { storageSizeGB: 200 });

describe('every command', { timeout: 240_000 }, () => {
  test('does its work', async (context) => {
    const desk = await settled(context);
    const { id } = desk;
    const whole = `dbc/${id}`;
    await desk.cloud.act('deployForeign', { id: `${id}-legacy`, spaceID: desk.spaceID });
    await check(desk, [
      [['status'], 0, /DatabaseSpace .*production +True[\s\S]*DatabaseUser .*app +True/],
      [['status', whole, '-o', 'yaml'], 0, /kind: DatabaseUser/],
      [['explain', 'dbu/app'], 0, /Ready is True LoginWorks/],
      [['explain', 'dbu/app', '-o', 'json'], 0, /"reason": "LoginWorks"/],
      [['plan'], 0, /Nothing to do/],
      [['plan', '-f', '-', '--exit-code'], 2, /storageSizeGB: 100 → 200/, larger(desk)],
      [['plan', '-f', '-', '-o', 'yaml'], 0, /weight: costs/, larger(desk)],
      [
        ['plan', '-f', '-', '--exit-code'],
        4,
        /Ready is False StorageCannotShrink/,
        changed(desk, { storageSizeGB: 50 }),
      ],
      [
        ['plan', '-f', '-', '--exit-code'],
        4,
        /This would be tried and would fail/,
        another(desk, { version: '9.9.9' }),
      ],
      [
        ['plan', '-f', '-', '--exit-code'],
        2,
        /Ready is Unknown SpaceNotFound/,
        another(desk, { spaceRef: { name: 'x' } }),
      ],
      [['plan', '-f', '-', '--exit-code'], 4, /Ready is False BaseURLNotAllowed: .*--allow-http/, byHTTP],
      [['plan', '-f', '-', '--exit-code', '--allow-http'], 2, /DatabaseSpace .*by-http \(create\)/, byHTTP],
      [
        ['plan', '-f', '-', '--exit-code', '--allowed-base-urls=https://other.example.com'],
        4,
        /Ready is False BaseURLNotAllowed: .*--allowed-base-urls \(https:\/\/other\.example\.com\)/,
        byHTTP.replace('http:', 'https:'),
      ],
      [['plan', '--delete', 'dbu/app', '--exit-code'], 3, /- DatabaseUser .*app: delete user "app"/],
      [['plan', '--delete', 'dbu', 'app', '--exit-code'], 3, /- DatabaseUser .*app: delete user "app"/],
      [['plan', '--delete', whole], 0, /~ DatabaseCluster .*\n.*stays in the cloud/],
      [['plan', '--delete', '-f', '-'], 0, /~ DatabaseCluster .*\n.*stays in the cloud/, larger(desk)],
      [['export', 'production', '--unmanaged'], 0, /adoptionPolicy: MustExist/],
      [['export', 'production'], 0, /managementPolicy: Manage/],
      [['query', id, 'match $p isa person;'], 0, /\d rows?/],
      [['shell', whole], 0, /Done\.|1 row/, "\\write insert $p isa person, has name 'Ada';\n"],
      [['__complete', 'explain', '-n', desk.namespace, 'databaseuser/'], 0, /databaseuser\/app/],
      [['completion', 'bash'], 0, /complete .* mooring/],
    ]);
    await check(desk, [[['rotate', 'dbu/app'], 0, /✓ Rotated/]]);
    expect(await mooringHere(desk.namespace, ['rotate', whole, '--timeout=90s'])).toEqual({
      code: 0,
      stdout: `✓ Rotated: the new password is in Secret "${id}-admin", and works\n`,
      stderr: expect.stringMatching(/^(Waiting for Mooring to begin|The new password is being put in place)\n/),
    });
    await check(desk, [[['suspend', whole], 0, /✓/]]);
    await check(desk, [
      [['rotate', 'dbu/app'], 1, /Nothing was set\. DatabaseCluster .* is suspended.*First: kubectl mooring resume/],
      [['rotate', whole], 1, /Nothing was set\. It is suspended/],
      [['status', 'dbu/app'], 0, /ClusterSuspended/],
    ]);
    await check(desk, [[['resume', whole], 0, /✓/]]);
    await check(desk, [[['pause', whole], 0, /✓ Paused/]]);
    const shown = await mustKubectl(['get', whole, '-o', 'json', '--show-managed-fields', '-n', desk.namespace]);
    const { metadata } = JSON.parse(shown) as { metadata: { managedFields: { manager: string; fieldsV1: object }[] } };
    const pausing = metadata.managedFields.filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes('/paused'));
    // Flux undoes what a manager whose name begins with kubectl has set, which would end the pause.
    expect(pausing.map(({ manager }) => manager)).toEqual(['mooring-plugin']);
    const current = (await mustKubectl(['config', 'current-context'])).trim();
    const generation = async () => (await desk.get('DatabaseCluster'))?.metadata.generation;
    const before = await generation();
    await check(desk, [
      [['suspend', whole], 1, /Nothing was set\. It is paused.*First: kubectl mooring unpause/],
      [
        ['suspend', whole, '--context', current],
        1,
        new RegExp(`First: kubectl mooring unpause .* --context ${current}\\n`),
      ],
      [['rotate', whole], 1, /Nothing was set\. It is paused/],
      [['status'], 0, /paused: Mooring changes nothing about it/],
    ]);
    expect(await generation()).toBe(before);
    await check(desk, [[['unpause', whole], 0, /✓ Unpaused: Mooring makes changes again/]]);
  });

  test('says which right is missing', async (context) => {
    const desk = await settled(context);
    const { namespace, id } = desk;
    const ours = (resources: readonly string[], verbs: readonly string[]): Rule => ({
      apiGroups: ['mooring.dev'],
      resources,
      verbs,
    });
    const whole = `dbc/${id}`;
    const lacks = (verb: string, resource: string) =>
      new RegExp(`cannot ${verb} resource "${resource}" in API group "(mooring\\.dev)?"[\\s\\S]*lack a right`);

    const nobody = await accountWith(namespace, 'nobody', []);
    await check(
      desk,
      [
        [['status'], 1, lacks('list', 'databasespaces')],
        [['explain', whole], 1, lacks('get', 'databaseclusters')],
        [['plan'], 1, lacks('list', 'databasespaces')],
        [['plan', '-f', '-', '--exit-code'], 1, lacks('list', 'databasespaces'), larger(desk)],
        [['plan', '--delete', whole], 1, lacks('list', 'databasespaces')],
        [['export', 'production'], 1, lacks('get', 'databasespaces')],
        [['query', id, 'match $p isa person;'], 1, lacks('list', 'databaseusers')],
        [['shell', id], 1, lacks('list', 'databaseusers')],
        ...['rotate', 'suspend', 'resume', 'pause', 'unpause'].map(
          (name): Row => [[name, whole], 1, lacks('get', 'databaseclusters')],
        ),
        [['__complete', 'explain', '-n', namespace, 'databaseuser/'], 0, /^:4\n$/],
      ],
      nobody,
    );

    const reader = await accountWith(namespace, 'reader', [ours(['*'], ['get', 'list'])]);
    await check(
      desk,
      [
        [['status'], 0, /DatabaseUser .*app +True/],
        [['status', '--all-namespaces'], 1, lacks('list', 'databasespaces')],
        [['explain', 'dbu/app'], 0, /LoginWorks/],
        // Nothing here asks whom a selector admits.
        [
          ['plan'],
          0,
          /^Note: You may not read Secrets in namespace .*\nNote: The cloud of .* could not be asked.*cannot get resource "secrets"/,
        ],
        [['plan', '-f', '-'], 0, /storageSizeGB: 100 → 200[\s\S]*Note: .*cannot patch resource/, larger(desk)],
        [['export', 'production'], 1, lacks('get', 'secrets')],
        [['query', id, 'match $p isa person;'], 1, lacks('get', 'secrets')],
        [['shell', id], 1, lacks('get', 'secrets')],
        ...['rotate', 'suspend', 'resume', 'pause', 'unpause'].map(
          (name): Row => [[name, whole], 1, lacks('patch', 'databaseclusters')],
        ),
      ],
      reader,
    );

    const half = await accountWith(namespace, 'half', [ours(['databasespaces', 'databaseclusters'], ['get', 'list'])]);
    await check(
      desk,
      [
        [
          ['status'],
          1,
          /DatabaseCluster .*True[\s\S]*Not shown, as you lack a right: .*cannot list resource "databaseusers"/,
        ],
        [['explain', whole], 0, /Ready is True Running/],
        [['explain', 'dbu/app'], 1, lacks('get', 'databaseusers')],
        [
          ['status', 'dbu/app'],
          1,
          /^DatabaseUser .*app does not exist, or you lack a right: Cannot list databaseusers: [^\n]*\n$/,
        ],
        [['status', 'dbc/none'], 1, /^DatabaseCluster .*none does not exist: check its name[^\n]*\n$/],
        [['plan'], 1, /cannot list resource "databaseusers"[\s\S]*cannot list resource "databases"[\s\S]*lack a right/],
        [['query', id, 'match $p isa person;'], 1, lacks('list', 'databaseusers')],
      ],
      half,
    );
  });

  test('status without objects names the namespace, and says so if it does not exist', async () => {
    expect(await mooringHere('no-such-place', ['status'])).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/ found in namespace no-such-place\. There is no such namespace\.\n$/),
    });
    expect(await mooringHere('kube-public', ['status'])).toEqual({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(/^No DatabaseSpaces.* found in namespace kube-public\.\n/),
    });
    expect(await mooringHere('no-such-place', ['plan', '--exit-code'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/ found in namespace no-such-place\. There is no such namespace\.\n$/),
    });
    const { code, stdout } = await mooringHere('kube-public', ['status', '-o', 'json']);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { items: [] }]);
  });

  test('says what was wrong with the call, and what would be right', async (context) => {
    const desk = await settled(context);
    const { id } = desk;
    const mistyped = desk.cluster({ storageSizeGB: undefined, storageSizeGb: 100, foo: 1 });
    const bad = [
      desk.cluster({ storageSizeGB: 5, nonsense: true }),
      { ...user({ clusterRef: { name: id }, rotateEvery: 'soon' }), apiVersion: 'mooring.dev/v1' },
      user({}, {}, 'Upper'),
      { ...mistyped, metadata: { name: 'mistyped' } },
      {
        ...desk.cluster({
          provider: 'gpc',
          machineType: undefined,
          machinType: 'small',
          storageSizeGB: 5,
          state: 'off',
        }),
        metadata: { name: 'much' },
      },
      { ...desk.cluster({}), metadata: { name: 'empty' }, spec: {} },
      { ...desk.cluster({}), metadata: { name: 'none' }, spec: undefined },
      { ...desk.cluster({ provider: 'gpc' }), metadata: {} },
    ];
    const elsewhere = JSON.stringify({ ...desk.cluster({}), metadata: { name: 'there', namespace: 'no-such-place' } });
    const place = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'no-such-place' } });
    const wrong = bad.map((each) => JSON.stringify(each)).join('\n---\n');
    const all =
      /8 manifests cannot be applied:\n(?=[\s\S]*document 1: DatabaseCluster .*spec\.storageSizeGB cannot be 5)(?=[\s\S]*document 1: .*spec\.nonsense cannot be true: there is no such field)(?=[\s\S]*document 2: DatabaseUser app: apiVersion cannot be "mooring\.dev\/v1": use .*\n.*document 2: DatabaseUser .*app: spec\.rotateEvery)(?=[\s\S]*document 3: DatabaseUser .*Upper: metadata\.name)(?=[\s\S]*document 4: .*spec\.storageSizeGb cannot be 100: there is no such field: did you mean storageSizeGB\?)(?=[\s\S]*document 4: .*spec\.foo cannot be 1: there is no such field: correct its name)(?!.*spec: Required value)/;
    const rest =
      /(?=[\s\S]*document 5: .*machinType .*did you mean machineType)(?=[\s\S]*document 5: .*state cannot be)(?=[\s\S]*document 5: .*provider 'gpc' is not listed)(?=[\s\S]*document 6: .*spaceRef is missing)(?=[\s\S]*document 6: .*region is needed)(?=[\s\S]*document 7: .*region is needed)(?![\s\S]*Required value\n)(?=[\s\S]*document 8: DatabaseCluster: metadata\.name is missing)(?=[\s\S]*document 8: DatabaseCluster: .*provider 'gpc' is not listed)/;
    const objects = /Name one object, such as databasecluster\/orders/;
    await check(desk, [
      [['status', '--wath'], 2, /Unknown option '--wath'\. Did you mean --watch\?/],
      [['status', 'pod/x'], 2, /There is no kind "pod": use databasespace or dbs/],
      [['status', 'dbc/none'], 1, /DatabaseCluster .*none does not exist/],
      [['status', '-o', 'json', '--watch'], 2, /--watch shows text only/],
      [['status', '-o', 'xml'], 2, /--output cannot be "xml": use json or yaml/],
      [['explain'], 2, objects],
      [['explain', 'dbc/none'], 1, /DatabaseCluster .*none does not exist/],
      [['explain', 'dbu/app', '-o', 'wide'], 2, /use json or yaml/],
      [['plan', '-f', 'nowhere.yaml'], 2, /nowhere\.yaml cannot be read: ENOENT/],
      [['plan', '-f', 'nowhere.yaml', '--exit-code'], 1, /nowhere\.yaml cannot be read: ENOENT/],
      [['plan', '-f', '-', '--exit-code'], 1, all, wrong],
      [['plan', '-f', '-', '--exit-code'], 1, rest, wrong],
      [['plan', '-f', '-'], 1, /namespace "no-such-place" does not exist: create it, add it to the files/, elsewhere],
      [['plan', '-f', '-'], 0, /Note: .* was not checked by the API server/, `${elsewhere}\n---\n${place}`],
      [['plan', '-f', '-'], 1, /document 1: is not YAML: .*\(line 2\)/, 'a: 1\nb: [1'],
      [
        ['plan', '-f', '-'],
        2,
        /There is no object of Mooring in these files/,
        'kind: Pod\napiVersion: v1\nmetadata: {name: x}',
      ],
      [['plan', 'dbc/none'], 1, /does not exist/],
      [['plan', `dbc/${id}s`], 1, new RegExp(`does not exist.*Did you mean "${id}"\\?`)],
      [
        ['plan', '-f', '-'],
        1,
        /(?=[\s\S]*region 'mars-1' is not offered)(?=[\s\S]*region cannot change from)/,
        JSON.stringify(desk.cluster({ region: 'mars-1' })),
      ],
      [['plan', '--delete'], 2, /Name the objects to delete: KIND\/NAME, or --filename/],
      [['plan', '-o', 'xml'], 2, /use json or yaml/],
      [['export'], 2, /Name a DatabaseSpace/],
      [['export', 'none'], 1, /DatabaseSpace "none" in namespace ".*" does not exist/],
      [['export', `dbc/${id}`], 2, /is not a DatabaseSpace/],
      [['query', id], 2, /Name a DatabaseCluster and one query in quotes/],
      [['query', 'none', 'match $p isa person;'], 1, /No DatabaseUser of cluster "none" .* create one/],
      [['query', id, 'insert $p isa person;'], 1, /refused .*\n.* seems to be a write: add --type=write\n$/],
      [['query', id, ' '], 2, /Name a DatabaseCluster and one query in quotes/],
      [['query', id, 'nonsense'], 1, /Cannot run a query on database .* refused/],
      [['query', id, 'match $p isa person;', '-u', 'x'], 1, /DatabaseUser "x" of cluster/],
      [['query', id, 'match $p isa person;', '-t', 'x'], 2, /--type cannot be "x": use read, write, schema/],
      [['query', id, 'match $p isa person;', '-o', 'yaml'], 2, /use json/],
      [['query', id, 'match $p isa person;', '--server', 'http://127.0.0.1:1'], 1, /Check --server/],
      [
        ['query', id, 'match $p isa person;', '--server', 'nowhere'],
        2,
        /--server cannot be "nowhere": write it like https/,
      ],
      [['shell'], 2, /Name a DatabaseCluster/],
      [['shell', id], 1, /Write the query after \\schema, on the same line/, '\\schema\n'],
      [['shell', 'dbu/app'], 2, /is not a DatabaseCluster/],
      [['shell', id], 1, /There is no command "\\x"[\s\S]*No transaction is open/, '\\x\n\\commit\n'],
      ...['rotate', 'suspend', 'resume', 'pause', 'unpause'].flatMap((name): readonly Row[] => [
        [[name], 2, objects],
        [[name, 'dbc/none'], 1, /DatabaseCluster .*none does not exist/],
        [[name, `dbc/${id}`, '--timeout', 'soon'], 2, /--timeout cannot be "soon": write it like 30s/],
      ]),
      [['rotate', `dbd/${id}`], 2, /rotate does not work on a Database,/],
      [['suspend', 'dbu/app'], 2, /suspend does not work on a DatabaseUser,/],
      [['nothing'], 2, /There is no command "nothing"/, ''],
    ]);
  });
});
