import { loadAll } from 'js-yaml';
import { beforeAll, describe, expect, test } from 'vitest';
import { definitions } from '../../src/kinds/definitions.ts';
import { type Expressions, judge } from '../../tools/kstatus/kstatus.ts';
import { readDocument } from '../support/readme.ts';
import { type Fixture, type FixtureObject, fixtures } from './fixtures.ts';
import { meanings } from './meanings.ts';

const BUILD_MS = 10 * 60_000;

let all: readonly Fixture[];

beforeAll(async () => {
  all = await fixtures();
  expect(await judge([], { log: console.log })).toEqual([]);
}, BUILD_MS);

describe('kstatus, by which Flux and Helm wait', () => {
  test('judges each fixture as Mooring means it', async () => {
    const judged = await judge(all.map(({ object }) => object));
    const name = (index: number) => `${all[index]?.kind} ${all[index]?.name}`;
    expect(judged.map(({ status }, index) => `${name(index)}: ${status}`)).toEqual(
      all.map(({ kstatus }, index) => `${name(index)}: ${kstatus}`),
    );
  });

  test.each(definitions.map(({ kind }) => kind))('judges every documented reason of %s', async (kind) => {
    const expected = meanings(kind);
    const judged = await judge(expected.map(({ object }) => object));
    expect(judged.map(({ status }, index) => `${expected[index]?.reason}: ${status}`)).toEqual(
      expected.map(({ reason, kstatus }) => `${reason}: ${kstatus}`),
    );
  });
});

describe('healthCheckExprs of the example for Flux', () => {
  type Kustomization = { readonly spec: { readonly healthCheckExprs?: readonly (Expressions & { kind: string })[] } };
  const [kustomization] = loadAll(readDocument('deploy/flux/databases.yaml')) as Kustomization[];
  const expressions = kustomization?.spec.healthCheckExprs ?? [];
  const expressionsFor = (object: object) => expressions.find(({ kind }) => kind === (object as FixtureObject).kind);

  test('are for users and databases', () => {
    expect(expressions.map(({ kind }) => kind)).toEqual(['DatabaseUser', 'Database']);
  });

  test('let Flux wait for the same as kstatus, except for what is on a suspended cluster', async () => {
    // Nobody waits for the health of an object that is being deleted.
    const awaited = all.filter(
      ({ object, kstatus }) => expressionsFor(object) !== undefined && kstatus !== 'Terminating',
    );
    const judged = await judge(
      awaited.map(({ object }) => object),
      { expressionsFor },
    );
    const expected = awaited.map(({ name, kstatus }) => ({
      name,
      status: name === 'new_on_suspended' ? 'Current' : kstatus,
    }));
    expect(judged.map(({ status }, index) => ({ name: awaited[index]?.name, status }))).toEqual(expected);
  });

  test.each(['DatabaseUser', 'Database'])('judge every documented reason of %s as kstatus does', async (kind) => {
    const expected = meanings(kind).filter(({ reason }) => reason !== 'ClusterSuspended');
    const judged = await judge(
      expected.map(({ object }) => object),
      { expressionsFor },
    );
    expect(judged.map(({ status }) => status)).toEqual(expected.map(({ kstatus }) => kstatus));
  });
});
