import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { GROUP } from '../../src/base/group.ts';
import { definitions } from '../../src/kinds/definitions.ts';
import { fieldsOf, resourceSchema } from '../../src/kube/crd/crd.ts';
import { ROOT } from '../support/readme.ts';

interface References {
  readonly nameReference: readonly {
    readonly kind: string;
    readonly fieldSpecs: readonly { readonly kind: string; readonly group: string; readonly path: string }[];
  }[];
}

/** What a reference names, by the name of its field. */
function targetOf(path: string): string {
  if (path.endsWith('spaceRef/name')) return 'DatabaseSpace';
  if (path.endsWith('clusterRef/name')) return 'DatabaseCluster';
  return path.endsWith('configMapKeyRef/name') ? 'ConfigMap' : 'Secret';
}

test('kustomize is told of every field that names another object', () => {
  const wanted = definitions.flatMap((definition) =>
    fieldsOf(resourceSchema(definition), '')
      // kustomize has no word for the items of a list.
      .map(({ path }) => path.slice(1).replaceAll('[]', '').replaceAll('.', '/'))
      .filter((path) => /^spec\/.*Ref\/name$/.test(path))
      .map((path) => `${definition.kind} ${path} names a ${targetOf(path)}`),
  );
  expect(wanted).toContain('Database spec/schema/configMapKeyRef/name names a ConfigMap');
  // The cast: a file of our own.
  const { nameReference } = load(readFileSync(join(ROOT, 'deploy/kustomize/references.yaml'), 'utf8')) as References;
  const fields = nameReference.flatMap(({ kind: target, fieldSpecs }) =>
    fieldSpecs.map((field) => ({ ...field, target })),
  );
  expect(fields.map(({ kind, path, target }) => `${kind} ${path} names a ${target}`).toSorted()).toEqual(
    wanted.toSorted(),
  );
  expect([...new Set(fields.map(({ group }) => group))]).toEqual([GROUP]);
});
