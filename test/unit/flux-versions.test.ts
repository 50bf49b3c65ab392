import { expect, test } from 'vitest';
import { requiredVersion } from '../../tools/control-plane/versions.ts';
import { FOREIGN_KINDS } from '../support/foreign-kinds.ts';
import { readDocument } from '../support/readme.ts';

test.each(['Kustomization', 'HelmRelease', 'GitRepository'] as const)(
  'The controller of %s that is run has the version whose schema the examples are checked by, and the document names it',
  (kind) => {
    const { path, version } = FOREIGN_KINDS[kind];
    expect(requiredVersion(readDocument('test/integration/flux/go.mod'), path)).toBe(version);
    expect(readDocument('docs/gitops.md')).toContain(`${path.split('/').at(-1)} ${version.slice(1)}`);
  },
);
