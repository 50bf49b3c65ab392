import type { ValidationRule } from '../../kube/definition.ts';
import { IS_KNOWN, keepsField, textWith } from '../shared-schema.ts';
import { machineTypes, storageTypes } from './offerings.ts';

/*
 * Rules of the Cluster Management API that need more than one field. The tables are those of offerings.ts, as CEL literals
 * (JSON is one), so that the API server also knows a row that is added there.
 */

const STAYS = 'a cluster keeps what it was created with';
/** Deleting an object that nothing was created for ends nothing outside. */
export const OTHER_CLUSTER = `${STAYS}, so create another DatabaseCluster; if no cluster was created yet, delete this object and apply it again`;
export const CLONE_OF_ITSELF =
  'cloneFrom names the very cluster to create, and a cluster cannot be cloned from itself: name another source, or leave cloneFrom out; if this object already exists, delete it first, as cloneFrom cannot change';
const PAST_THE_TABLE = 'or set allowUnlisted: true if the cloud offers it';

const providers = Object.keys(storageTypes);
const regionsOf = tableOf(providers, (provider) =>
  machineTypes.filter((type) => type.provider === provider).flatMap((type) => type.regions),
);
const machineTypesIn = tableOf(
  machineTypes.flatMap((type) => type.regions),
  (region) => machineTypes.filter((type) => type.regions.includes(region)).map((type) => type.name),
);
const freeMachineTypes = machineTypes.filter((type) => type.free).map((type) => type.name);

function tableOf(keys: readonly string[], values: (key: string) => readonly string[]) {
  return Object.fromEntries([...new Set(keys)].map((key) => [key, [...new Set(values(key))]]));
}

/** JSON that is also CEL, with spaces where YAML may break the line. */
function literal(value: unknown): string {
  return JSON.stringify(value).replaceAll('","', '", "').replaceAll('],"', '], "');
}

/** `field` must be in the row of `table` that `by` selects. Another rule judges a `by` that is not in the table. */
function listedBy(field: string, by: string, table: Readonly<Record<string, readonly string[]>>): ValidationRule {
  const rows = literal(table);
  const names = literal(Object.fromEntries(Object.entries(table).map(([key, row]) => [key, row.join(', ')])));
  return {
    rule: `self.allowUnlisted || !has(self.${field}) || !has(self.${by}) || !(self.${by} in ${rows}) || self.${field} in ${rows}[self.${by}]`,
    message: `${field} is not offered for this ${by}: choose another, ${PAST_THE_TABLE}`,
    messageExpression: textWith(
      `${field} '%s' is not offered for ${by} '%s': choose one of %s, ${PAST_THE_TABLE}`,
      `self.${field}`,
      `self.${by}`,
      `${names}[self.${by}]`,
    ),
    fieldPath: `.${field}`,
  };
}

function neededToDeploy(field: string): ValidationRule {
  return {
    rule: `has(self.${field}) || has(self.cloneFrom) || self.adoptionPolicy == 'MustExist' || self.managementPolicy == 'Observe'`,
    message: `${field} is needed to deploy a cluster: set it (it may be absent with cloneFrom, adoptionPolicy: MustExist or managementPolicy: Observe)`,
    fieldPath: `.${field}`,
    reason: 'FieldValueRequired',
  };
}

export const specRules: readonly ValidationRule[] = [
  ...['provider', 'region', 'machineType', 'storageSizeGB', 'version'].map(neededToDeploy),
  ...['provider', 'region', 'storageType', 'version', 'cloneFrom'].map((field) => keepsField(field, STAYS)),
  {
    rule: 'has(oldSelf.cloneFrom) || !has(self.cloneFrom)',
    message: `cloneFrom cannot be added: ${OTHER_CLUSTER}`,
    fieldPath: '.cloneFrom',
    reason: 'FieldValueForbidden',
  },
  {
    rule: `self.allowUnlisted || !has(self.provider) || self.provider in ${literal(providers)}`,
    message: `provider is not listed: choose one of ${providers.join(', ')}, ${PAST_THE_TABLE}`,
    messageExpression: textWith(
      `provider '%s' is not listed: choose one of ${providers.join(', ')}, ${PAST_THE_TABLE}`,
      'self.provider',
    ),
    fieldPath: '.provider',
  },
  listedBy('region', 'provider', regionsOf),
  listedBy('machineType', 'region', machineTypesIn),
  listedBy('storageType', 'provider', storageTypes),
  {
    rule: `self.allowUnlisted || self.serverCount == 1 || !has(self.version) || self.version.matches('^[0-2]([.]|$)')`,
    message: `from version 3.0 on a cluster has one server: set serverCount to 1, ${PAST_THE_TABLE}`,
    messageExpression: textWith(
      `serverCount %d is not possible with version '%s': set 1, ${PAST_THE_TABLE}`,
      'self.serverCount',
      'self.version',
    ),
    fieldPath: '.serverCount',
  },
  {
    rule: `self.allowUnlisted || !self.isFree || !has(self.machineType) || self.machineType in ${literal(freeMachineTypes)}`,
    message: 'a free cluster needs a free machine type',
    messageExpression: textWith(
      `machineType '%s' is not free: choose one of ${freeMachineTypes.join(', ')} for a cluster with isFree: true, ${PAST_THE_TABLE}`,
      'self.machineType',
    ),
    fieldPath: '.machineType',
  },
  {
    rule: '!self.isFree || self.serverCount == 1',
    message: 'a free cluster has one server: set serverCount to 1',
    messageExpression: textWith('serverCount %d is not possible with isFree: true: set 1', 'self.serverCount'),
    fieldPath: '.serverCount',
  },
  {
    rule: '!self.isFree || !has(self.storageSizeGB) || self.storageSizeGB <= 10',
    message: 'a free cluster has at most 10 GB of storage: set storageSizeGB to 10',
    messageExpression: textWith('storageSizeGB %d is not possible with isFree: true: set 10', 'self.storageSizeGB'),
    fieldPath: '.storageSizeGB',
  },
  {
    rule: `!self.isFree || !has(self.backup) || self.backup.frequency == 'disabled'`,
    message: 'a free cluster has no backups',
    messageExpression: textWith(
      "backup.frequency '%s' is not possible with isFree: true: set disabled, or remove backup",
      'self.backup.frequency',
    ),
    fieldPath: '.backup.frequency',
  },
];

const ADMIN_SECRET = `(has(self.spec.adminCredentials.secretName) ? self.spec.adminCredentials.secretName : self.metadata.name + '-admin')`;

const OWN_ID = '(has(self.spec.clusterID) ? self.spec.clusterID : self.metadata.name)';

/** Rules that need the object's name, or whether it is new. */
export const clusterRules: readonly ValidationRule[] = [
  {
    rule: `size(self.metadata.name) <= 63 || ${IS_KNOWN}`,
    message:
      'metadata.name is longer than 63 characters: choose a shorter one, and set spec.clusterID if the id differs',
  },
  {
    rule: `has(self.spec.clusterID) || !self.metadata.name.contains('.')`,
    message: 'metadata.name has dots, which are not allowed in a cluster id: set spec.clusterID',
    fieldPath: '.spec.clusterID',
    reason: 'FieldValueRequired',
  },
  {
    rule: `!has(self.spec.adminCredentials) || !has(self.spec.adminCredentials.existingSecretRef) || self.spec.adminCredentials.existingSecretRef.name != ${ADMIN_SECRET}`,
    message:
      'existingSecretRef names the Secret that the operator writes (secretName, by default <name>-admin): name another Secret in one of the two',
    fieldPath: '.spec.adminCredentials.existingSecretRef.name',
  },
  {
    rule: `${IS_KNOWN} || !has(self.spec.cloneFrom) || (has(self.spec.cloneFrom.clusterRef) ? self.spec.cloneFrom.clusterRef.name != self.metadata.name : !has(self.spec.cloneFrom.clusterID) || self.spec.cloneFrom.clusterID != ${OWN_ID})`,
    message: CLONE_OF_ITSELF,
    fieldPath: '.spec.cloneFrom',
  },
  {
    rule: `${IS_KNOWN} || !has(self.spec.version) || self.spec.version.matches('^[!-~]+$')`,
    message: 'version must be latest or a version such as 3.5.0, in ASCII characters without spaces',
    fieldPath: '.spec.version',
  },
];
