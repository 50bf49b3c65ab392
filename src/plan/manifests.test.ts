import { describe, expect, it } from 'vitest';
import { documentsIn, readDocuments } from './manifests.ts';

const OURS = 'apiVersion: mooring.dev/v1alpha1\nkind: DatabaseUser\nmetadata: {name: app}\n';
const read = (text: string) => {
  const { documents, problems } = documentsIn('a.yaml', text);
  return {
    names: documents.map(({ where, manifest }) => `${where}: ${manifest.metadata.name}`),
    problems: problems.map(({ where, text: what }) => `${where}: ${what}`),
  };
};

describe('documentsIn()', () => {
  it('finds objects of our kinds, and ConfigMaps, in documents and lists', () => {
    const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: schema}\ndata: {}\n';
    const list = `apiVersion: v1\nkind: List\nitems:\n- ${OURS.replaceAll('\n', '\n  ')}`;
    const other = 'apiVersion: v1\nkind: Service\nmetadata: {name: web}\n';
    expect(read(`# Only a comment\n---\n${OURS}---\n${other}---\n${map}---\n${list}`)).toEqual({
      names: ['a.yaml, document 1: app', 'a.yaml, document 3: schema', 'a.yaml, document 4, item 1: app'],
      problems: [],
    });
  });

  it('finds what is in lists of lists', () => {
    const inner = {
      apiVersion: 'v1',
      kind: 'List',
      items: [{ apiVersion: 'mooring.dev/v1alpha1', kind: 'DatabaseUser', metadata: { name: 'app' } }],
    };
    const outer = { ...inner, items: [inner, { ...inner.items[0], metadata: { name: 'web' } }] };
    expect(read(JSON.stringify(outer)).names).toEqual([
      'a.yaml, document 1, item 1, item 1: app',
      'a.yaml, document 1, item 2: web',
    ]);
  });

  it('leaves kinds of others alone that are called as those of Kubernetes', () => {
    const theirs = (kind: string) =>
      `apiVersion: example.com/v1\nkind: ${kind}\nmetadata: {name: x}\ndata: {a: {b: 1}}\n`;
    expect(read(['Secret', 'ConfigMap', 'Namespace'].map(theirs).join('---\n'))).toEqual({ names: [], problems: [] });
  });

  it('does not repeat a file that is a text, such as one with a password', () => {
    expect(read('PASSWORD=hunter2\n').problems).toEqual(['a.yaml, document 1: is a text: write an object']);
  });

  it('finds what is in a list of one kind, as the API server writes it', () => {
    const item = OURS.replaceAll('\n', '\n  ');
    const text = `apiVersion: mooring.dev/v1alpha1\nkind: DatabaseUserList\nmetadata: {resourceVersion: '1'}\nitems:\n- ${item}`;
    expect(read(text)).toEqual({ names: ['a.yaml, document 1, item 1: app'], problems: [] });
    expect(read('apiVersion: mooring.dev/v1alpha1\nkind: DatabaseUserList\n').problems).toContain(
      'a.yaml, document 1: kind cannot be "DatabaseUserList": use DatabaseSpace, DatabaseCluster, DatabaseUser, Database',
    );
  });

  it.each(['""', 'null'])('takes the namespace %s for none, as kubectl does', (namespace) => {
    const { documents, problems } = documentsIn('a.yaml', OURS.replace('app}', `app, namespace: ${namespace}}`));
    expect(documents.map(({ manifest }) => manifest.metadata)).toEqual([{ name: 'app' }]);
    expect(problems).toEqual([]);
  });

  it.each(['*canary', '!canary', '!!canary x', '!<canary> x', '!a!canary x', '"canary'])(
    'shows nothing of a text that is no YAML, such as the password %s',
    (password) => {
      const { problems } = read(`${OURS}---\nkind: Secret\nstringData:\n  password: ${password}\n`);
      expect(problems).toEqual([
        expect.stringMatching(/^a\.yaml, document 2: is not YAML: (?!.*canary).* \(line \d+\)$/),
      ]);
    },
  );

  it('reads YAML as kubectl does: merged mappings, and yes and on for true', () => {
    const text = `${OURS}spec: {all: &all {a: yes, b: On, c: n}, <<: *all, b: 'on'}\n`;
    expect(documentsIn('a.yaml', text)).toMatchObject({
      documents: [{ manifest: { spec: { a: true, b: 'on', c: false } } }],
      problems: [],
    });
  });

  // What kubectl 1.37 made of each, with `annotate --local -o json`.
  it.each([
    ['0100', 64],
    ['-0100', -64],
    ['1_000', 1000],
    ['-1_0', -10],
    ['+12', 12],
    ['0x1F', 31],
    ['+0x_1f', 31],
    ['0b101', 5],
    ['-0B11', -3],
    ['0o17', 15],
    ['0O17', 15],
    ['00', 0],
    ['08', 8],
    ['09_1', 91],
    ['1_0.5', 10.5],
    ['1_e3', 1000],
    ['.5', 0.5],
    ['1:30', '1:30'],
    ['2001-01-01', '2001-01-01'],
    ['5e', '5e'],
    ['"0100"', '0100'],
  ])('reads the number %s as kubectl does', (text, value) => {
    const { documents } = documentsIn('a.yaml', `${OURS}spec: {a: ${text}}\n`);
    expect(documents[0]?.manifest.spec).toEqual({ a: value });
  });

  describe('of objects in JSON', () => {
    const named = (name: string) =>
      JSON.stringify({
        apiVersion: 'mooring.dev/v1alpha1',
        kind: 'DatabaseUser',
        metadata: { name, labels: { a: '}{"' } },
      });

    // What kubectl 1.37 makes of each, with `annotate --local -o name`.
    it.each([
      ['one after the other', `${named('a')}\n${named('b')}\n`, ['a', 'b']],
      ['of several lines', `{\n${named('a').slice(1)}\n\n{\n${named('b').slice(1)}`, ['a', 'b']],
      ['with nothing between them', named('a') + named('b'), ['a', 'b']],
      ['that YAML follows', `${named('a')}\n${OURS}`, ['a', 'app']],
      ['with separators', `${named('a')}\n---\n${named('b')}\n---\n${OURS}`, ['a', 'b', 'app']],
    ])('reads documents %s', (_, text, names) => {
      expect(read(text)).toEqual({
        names: names.map((name, index) => `a.yaml, document ${index + 1}: ${name}`),
        problems: [],
      });
    });

    it('says in which line a mistake is, and reads what is before it', () => {
      expect(read(`${named('a')}\n${named('b')}\n{"kind":\n`)).toEqual({
        names: ['a.yaml, document 1: a', 'a.yaml, document 2: b'],
        problems: [expect.stringMatching(/^a\.yaml, document 3: is not YAML: .*\(line 4\)$/)],
      });
    });

    it('takes braces without quotes for YAML, in which a document ends with a separator', () => {
      expect(read(`{kind: Service}\n${named('b')}`).problems).toEqual([
        'a.yaml, document 1: is not YAML: end of the stream or a document separator is expected (line 2)',
      ]);
    });
  });

  it('finds Namespaces, as objects may be in one that does not exist yet', () => {
    const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n';
    expect(read(`${namespace}---\n${OURS}`).names).toEqual(['a.yaml, document 1: shop', 'a.yaml, document 2: app']);
  });

  it('reports everything that is wrong, each with its place, and what would be right', () => {
    const text = [
      OURS.replace('v1alpha1', 'v1'),
      'a: [1',
      OURS.replace('DatabaseUser', 'DatabaseUsr').replace('{name: app}', '{}'),
      OURS,
      '- a list',
      OURS.replace('apiVersion: mooring.dev/v1alpha1\n', ''),
      OURS.replace('{name: app}', '{namespace: shop}'),
    ].join('\n---\n');
    expect(read(text)).toEqual({
      // Those whose kind is known are checked further.
      names: [
        'a.yaml, document 1: app',
        'a.yaml, document 4: app',
        'a.yaml, document 6: app',
        'a.yaml, document 7: nameless',
      ],
      problems: [
        'a.yaml, document 1: DatabaseUser app: apiVersion cannot be "mooring.dev/v1": use mooring.dev/v1alpha1',
        expect.stringMatching(/^a\.yaml, document 2: is not YAML: .*\(line 7\)$/),
        'a.yaml, document 3: kind cannot be "DatabaseUsr": use DatabaseSpace, DatabaseCluster, DatabaseUser, Database',
        'a.yaml, document 3: metadata.name is missing: set it to a string',
        'a.yaml, document 5: is a list: write an object',
        'a.yaml, document 6: DatabaseUser app: apiVersion is missing: use mooring.dev/v1alpha1',
        'a.yaml, document 7: DatabaseUser: metadata.name is missing: set it to a string',
      ],
    });
  });

  it('leaves out kinds of the same name of other operators, and reports a misspelt group', () => {
    const of = (apiVersion: string) => `apiVersion: ${apiVersion}\nkind: Database\nmetadata: {name: app}\ncustom: 1\n`;
    expect(documentsIn('a.yaml', of('postgresql.cnpg.io/v1'))).toEqual({ documents: [], problems: [] });
    for (const apiVersion of ['moorings.dev/v1alpha1', 'apps/v1', 'v1'])
      expect(documentsIn('a.yaml', of(apiVersion)).problems[0]?.text).toBe(
        `Database app: apiVersion cannot be "${apiVersion}": use mooring.dev/v1alpha1`,
      );
  });

  it('reports fields that do not exist, and checks what they probably mean', () => {
    const { documents, problems } = documentsIn('a.yaml', `${OURS}sepc: {clusterRef: {name: orders}}\nfoo: 1\n`);
    expect(problems.map(({ text }) => text)).toEqual([
      'DatabaseUser app: there is no field sepc: did you mean spec?',
      'DatabaseUser app: there is no field foo: correct its name, or remove it',
    ]);
    expect(documents).toMatchObject([{ manifest: { spec: { clusterRef: { name: 'orders' } } } }]);
    expect(documents[0]?.manifest).not.toHaveProperty('sepc');
  });

  it('reports what must be text, and shows no value that may be secret', () => {
    const text = [
      OURS.replace(
        '{name: app}',
        '{name: app, namespace: 1, labels: [], annotations: {mooring.dev/paused: true, a: null}}',
      ),
      OURS.replace('{name: app}', '{name: shop/app}'),
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: schema}\ndata: {a.tql: 1}\n',
      'apiVersion: v1\nkind: Secret\nmetadata: {name: own}\ndata: {x: null}\nstringData: {password: 8675309}\n',
    ].join('\n---\n');
    expect(read(text)).toEqual({
      names: ['a.yaml, document 1: app', 'a.yaml, document 2: nameless'],
      problems: [
        'a.yaml, document 1: DatabaseUser app: metadata.namespace cannot be 1: write a string, in quotes',
        'a.yaml, document 1: DatabaseUser app: metadata.labels cannot be []: write an object',
        'a.yaml, document 1: DatabaseUser app: metadata.annotations: mooring.dev/paused cannot be true: write a string, in quotes',
        'a.yaml, document 2: DatabaseUser: metadata.name cannot be "shop/app": set it to a string, without / and %',
        'a.yaml, document 3: data: a.tql is not a string: write a string, in quotes',
        'a.yaml, document 4: stringData: password is not a string: write a string, in quotes',
      ],
    });
    expect(documentsIn('a.yaml', text).documents[0]?.manifest.metadata).toEqual({
      name: 'app',
      labels: {},
      annotations: {},
    });
  });
});

describe('readDocuments()', () => {
  const read = (paths: readonly string[], text = '') => readDocuments(paths, async () => text);

  it('says which file cannot be read', async () => {
    await expect(read(['nowhere.yaml'])).rejects.toThrow(/nowhere\.yaml cannot be read: ENOENT/);
  });

  it('refuses to plan nothing', async () => {
    await expect(read(['package.json'])).rejects.toThrow('There is no object of Mooring in these files');
  });

  it('reads standard input for -, once', async () => {
    const { documents } = await read(['-', '-'], OURS);
    expect(documents.map(({ where }) => where)).toEqual(['standard input, document 1']);
  });
});
