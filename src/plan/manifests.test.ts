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

  it('reads YAML as kubectl does: merged mappings, and yes and on for true', () => {
    const text = `${OURS}x: &all {a: yes, b: On, c: n}\nspec: {<<: *all, b: 'on'}\n`;
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
});

describe('readDocuments()', () => {
  it('says which file cannot be read', () => {
    expect(() => readDocuments(['nowhere.yaml'])).toThrow(/nowhere\.yaml cannot be read: ENOENT/);
  });

  it('refuses to plan nothing', () => {
    expect(() => readDocuments(['package.json'])).toThrow('There is no object of Mooring in these files');
  });
});
