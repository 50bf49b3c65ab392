import { TransientError } from '../../base/errors.ts';
import { isSamePlace } from '../databasespace/place.ts';
import { renameOrUpdate, suspendOrResume } from './changes/act-change.ts';
import { clone, deploy, destroy } from './existence/act-existence.ts';
import { spaceKeyOf } from './identity.ts';
import { deleteSecret, preparePassword, promotePassword, putPassword, retireSecret } from './login/act-login.ts';
import type { ClusterStatusPatch, ClusterStep, ClusterSubject } from './observation.ts';
import type { StepWork } from './work.ts';
import type { ClusterWorld } from './world.ts';

/** Carries out one step. */
export async function actOnCluster(
  world: ClusterWorld,
  subject: ClusterSubject,
  step: ClusterStep,
  signal: AbortSignal,
  keep: StepWork['keep'],
): Promise<ClusterStatusPatch | undefined> {
  const local = { world, subject, signal };
  if (step.do === 'DeleteSecret') return deleteSecret(local);
  if (step.do === 'RetireSecret') return retireSecret(local, step);
  if (step.do === 'TellLeft' || step.do === 'TellFactoryLogin') {
    world.onLeft(subject.key, step.message);
    return undefined;
  }
  const connection = world.connections.get(spaceKeyOf(subject));
  const { place } = subject.status;
  if (connection === undefined || (place !== undefined && !isSamePlace(place, connection.place)))
    throw new TransientError('WaitingForSpace', 'The DatabaseSpace changed meanwhile: Mooring checks it again');
  const work: StepWork = { ...local, connection, keep };
  switch (step.do) {
    case 'Deploy':
      return deploy(work, step);
    case 'Clone':
      return clone(work, step);
    case 'Destroy':
      return destroy(work, step);
    case 'Suspend':
    case 'Resume':
      return suspendOrResume(work, step);
    case 'Rename':
    case 'Update':
      return renameOrUpdate(work, step);
    case 'PreparePassword':
      return preparePassword(work, step);
    case 'PutPassword':
      return putPassword(work, step);
    case 'PromotePassword':
      return promotePassword(work);
    default:
      return step satisfies never;
  }
}
