import type { ResourceDefinition } from '../kube/definition.ts';
import { databaseDefinition } from './database/schema.ts';
import { databaseClusterDefinition } from './databasecluster/schema.ts';
import { databaseSpaceDefinition } from './databasespace/schema.ts';
import { databaseUserDefinition } from './databaseuser/schema.ts';

/** Every kind's definition, in the order in which a reader meets them. A new kind is added here. */
export const definitions: readonly ResourceDefinition[] = [
  databaseSpaceDefinition,
  databaseClusterDefinition,
  databaseUserDefinition,
  databaseDefinition,
];
