import { expect, test } from 'vitest';
import { parseTarget } from './kinds.ts';

test.each(['database', 'Databases', 'dbd', 'database.mooring.dev', 'databases.v1alpha1.mooring.dev'])(
  'parseTarget() reads %s as our Database, as kubectl does',
  (word) => {
    expect(parseTarget([`${word}/orders`])).toMatchObject({ definition: { kind: 'Database' }, name: 'orders' });
  },
);

test.each(['database.k8s.mariadb.com', 'databases.v1.mooring.dev'])(
  'parseTarget() does not take %s of others for our Database',
  (word) => {
    expect(() => parseTarget([`${word}/orders`])).toThrow(`There is no kind "${word}": use`);
  },
);
