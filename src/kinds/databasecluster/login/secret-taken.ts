import { objectKey, splitKey } from '../../../kube/object.ts';
import { comesBefore } from '../../claim.ts';
import type { SpaceConnection } from '../../databasespace/connection/connection.ts';
import { type SecretHolder, takenWords } from '../../secret-holder.ts';
import { labelsInWords, OWNER_LABEL, type SecretContents } from '../../secrets.ts';
import { claimantsOf, claiming, holdOf } from '../existence/claimants.ts';
import { adminSecretName } from '../identity.ts';
import type { ClusterSubject, LoginObservation } from '../observation.ts';
import { databaseClusterDefinition } from '../schema.ts';
import type { Work } from '../work.ts';
import type { ClusterWorld } from '../world.ts';
import { holderOf, holdsOwnLogin, isInUse, isOurSecret, shownID } from './login-of.ts';

export type SecretTaken = Extract<LoginObservation, { login: 'secretTaken' }>;

/** If the Secret is not the object's. */
export function takenByOthers(subject: ClusterSubject, secret: SecretContents): SecretTaken | undefined {
  if (isOurSecret(subject, secret)) return undefined;
  return { login: 'secretTaken', secretName: secret.name, by: holderOf(subject, secret) };
}

/** If the Secret holds the login of another cluster, which nobody else may know. */
export function takenByLogin(
  world: ClusterWorld,
  subject: ClusterSubject,
  secret: SecretContents,
  connection: SpaceConnection,
): SecretTaken | undefined {
  if (!isInUse(subject, secret, connection)) return undefined;
  const by = ownerOfLogin(world, subject, secret, connection);
  return { login: 'secretTaken', secretName: secret.name, isOfAnother: true, by };
}

/**
 * Whether a cluster that is to be created could not be secured, as the name of its Secret is taken. Without a request if there is no such
 * Secret. The login of another cluster may be that of a clone.
 */
export async function observeSecret({ world, subject, connection, signal }: Work): Promise<SecretTaken | undefined> {
  const { metadata, spec } = subject;
  const { namespace = '' } = metadata;
  const name = adminSecretName(subject);
  if (world.secrets.version(namespace, name) === undefined) return wantedByOther(world, subject);
  const secret = await world.secrets.read(namespace, name, signal);
  if (secret === undefined) return wantedByOther(world, subject);
  const isNew = spec.cloneFrom === undefined;
  return takenByOthers(subject, secret) ?? (isNew ? takenByLogin(world, subject, secret, connection) : undefined);
}

/** If the login of another DatabaseCluster is to be in the Secret. That is written only once its cluster runs, minutes after it was asked for. */
function wantedByOther(world: ClusterWorld, subject: ClusterSubject): SecretTaken | undefined {
  const secretName = adminSecretName(subject);
  const referring = world.referringTo(objectKey(subject.metadata.namespace ?? '', secretName));
  const others = claiming(world, referring).filter(
    (record) => adminSecretName(record) === secretName && record.spec.managementPolicy !== 'Observe',
  );
  const first = comesBefore(subject, others, holdOf);
  return first === undefined ? undefined : { login: 'secretTaken', secretName, wantedBy: splitKey(first).name };
}

/** The only remedy for a Secret that holds a login is another name: removing or relabelling it may lose that login for good. */
export function secretTakenWords(
  { metadata }: Pick<ClusterSubject, 'metadata'>,
  { secretName, isOfAnother, wantedBy, by }: SecretTaken,
): string {
  const rename = 'set adminCredentials.secretName to another name';
  if (wantedBy !== undefined)
    return `Secret "${secretName}" is to hold the login of DatabaseCluster "${wantedBy}", which comes first: ${rename} in one of the two`;
  if (by === undefined && isOfAnother)
    return `Secret "${secretName}" holds the login of another cluster, which an earlier object of this name left behind, so it is not overwritten: ${rename}`;
  return takenWords(secretName, by, labelsInWords(OWNER_LABEL, metadata.name), rename);
}

/** The DatabaseCluster whose login is in the Secret, although the Secret has the label of this one. */
function ownerOfLogin(
  world: ClusterWorld,
  subject: ClusterSubject,
  secret: SecretContents,
  connection: SpaceConnection,
): SecretHolder | undefined {
  const id = shownID(secret, connection);
  const others = id === undefined ? [] : claimantsOf(world, subject, id, connection.place);
  const owner = others.find((record) => holdsOwnLogin(record, secret));
  return owner && { kind: databaseClusterDefinition.kind, name: owner.metadata.name };
}
