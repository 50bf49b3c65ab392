import type { ResourceDefinition } from '../kube/definition.ts';
import { databaseDefinition } from './database/schema.ts';
import { databaseClusterDefinition } from './databasecluster/schema.ts';
import { databaseSpaceDefinition } from './databasespace/schema.ts';
import { databaseUserDefinition } from './databaseuser/schema.ts';

/** The definitions of all kinds, in the order in which a reader meets them. Add a new kind here. */
export const definitions: readonly ResourceDefinition[] = [
  databaseSpaceDefinition,
  databaseClusterDefinition,
  databaseUserDefinition,
  databaseDefinition,
];
