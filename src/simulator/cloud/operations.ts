import { type Answer, type Incoming, json, jsonText, Refusal } from '../exchange/message.ts';
import type { Match } from '../exchange/router.ts';
import { readBody, refuseBody } from '../exchange/shape.ts';
import { cloneServerState } from '../server/clone.ts';
import { begin, createCluster, holderOf, settleAll, settleSpace, touch } from './lifecycle.ts';
import { renderCluster } from './render.ts';
import { CLONE_SHAPE, DEPLOY_SHAPE, UPDATE_SHAPE } from './requests.ts';
import type { CloudOperation, CloudRoute } from './routes.ts';
import { CLONE_RULES, DEPLOY_RULES, type Rule, UPDATE_RULES } from './rules.ts';
import type { Cluster, ClusterStatus, Space, Team, World } from './state.ts';
import { latestOf } from './tables.ts';
import { authenticate, authorize, exchange } from './tokens.ts';

/** What an operation works on, resolved and permitted. */
interface Place {
  readonly world: World;
  readonly team: Team;
  readonly space: Space;
  readonly clusterID: string;
  readonly request: Incoming;
  readonly now: number;
}

/** Cluster Management API: (state, request, now) → answer, with the state changed in place. Throws Refusal. */
export function cloudRespond(world: World, match: Match<CloudRoute>, request: Incoming, now: number): Answer {
  const { route, params } = match;
  if (!route.body) refuseBody(request.body);
  if (route.operation === 'exchangeToken') return exchange(world, request, now);
  const token = authenticate(world, request, now);
  if (route.operation === 'listVersions') return json(200, { availableVersions: world.availableVersions });

  const { teamID = '', spaceID = '', clusterID = '' } = params;
  const team = world.state.teams.get(teamID) ?? missing('team', teamID);
  const space = team.spaces.get(spaceID) ?? missing('space', spaceID);
  if (route.level !== undefined) authorize(world, token, teamID, spaceID, route.level);
  return OPERATIONS[route.operation]({ world, team, space, clusterID, request, now });
}

const OPERATIONS: Readonly<
  Record<Exclude<CloudOperation, 'exchangeToken' | 'listVersions'>, (place: Place) => Answer>
> = {
  deploy: ({ world, team, space, request, now }) => {
    const wanted = readBody(request.body, request.headers, DEPLOY_SHAPE);
    // 409 comes before the rules that count clusters: a client that deploys again after a lost answer must learn that the id is taken.
    if (holderOf(world, space, wanted.id, now))
      throw new Refusal(409, 'clusterIDInUse', `Cluster id ${wanted.id} is in use`);
    if (wanted.isFree) settleAll(world, now);
    enforce(world, DEPLOY_RULES, {
      request: wanted,
      team,
      availableVersions: world.availableVersions,
      backupRequired: world.knobs.backupRequired,
    });
    const { backupConfiguration, version, ...fields } = wanted;
    const cluster = createCluster(
      world,
      {
        ...fields,
        teamID: team.id,
        spaceID: space.id,
        version: version === 'latest' ? latestOf(world.availableVersions) : version,
        backup: backupConfiguration ?? { frequency: 'disabled', retentionDays: 7 },
      },
      now,
    );
    return answer(world, cluster);
  },

  get: (place) => answer(place.world, clusterOf(place)),

  list: ({ world, space, now }) => {
    settleSpace(world, space, now);
    const clusters = [...space.clusters.values()].map((cluster) => renderCluster(world, cluster));
    return jsonText(200, `[${clusters.join(',')}]`);
  },

  update: (place) => {
    const { world, team, space, request, now } = place;
    const cluster = clusterOf(place);
    const wanted = readBody(request.body, request.headers, UPDATE_SHAPE);
    enforce(world, UPDATE_RULES, { request: wanted, cluster, team });
    accept(world, 'update', cluster);
    if (wanted.id !== undefined && wanted.id !== cluster.id) {
      refuseTaken(world, space, wanted.id, now);
      space.clusters.delete(cluster.id);
      cluster.id = wanted.id;
      space.clusters.set(cluster.id, cluster);
    }
    cluster.storageSizeGB = wanted.storageSizeGB ?? cluster.storageSizeGB;
    cluster.machineType = wanted.machineType ?? cluster.machineType;
    cluster.backup = wanted.backupConfiguration ?? cluster.backup;
    touch(world, cluster);
    return answer(world, cluster);
  },

  suspend: (place) => changeRunState(place, 'suspend', 'suspending', 'suspended'),

  resume: (place) => changeRunState(place, 'resume', 'resuming', 'running'),

  clone: (place) => {
    const { world, team, space, request, now } = place;
    const source = clusterOf(place);
    const wanted = readBody(request.body, request.headers, CLONE_SHAPE);
    if (source.isFree) settleAll(world, now);
    enforce(world, CLONE_RULES, { request: wanted, source, team });
    accept(world, 'clone', source);
    refuseTaken(world, space, wanted.id, now);
    const database = cloneServerState(source.database, world.knobs.cloneKeepsUsers ? undefined : world.factoryLogin);
    return answer(world, createCluster(world, { ...source, id: wanted.id }, now, database));
  },

  destroy: (place) => {
    const { world, now } = place;
    const cluster = clusterOf(place);
    accept(world, 'destroy', cluster);
    begin(world, cluster, 'destroying', now);
    return answer(world, cluster);
  },
};

/**
 * The documents do not say from which statuses each operation is accepted (States and transitions). These are the ones that
 * make sense; the knobs transitionalOperations and redundantOperations widen them.
 */
const ACCEPTED_FROM: Readonly<Record<'update' | 'suspend' | 'resume' | 'clone' | 'destroy', readonly ClusterStatus[]>> =
  {
    update: ['running', 'suspended'],
    suspend: ['running'],
    resume: ['suspended'],
    clone: ['running', 'suspended'],
    destroy: ['running', 'suspended'],
  };

function accept(world: World, operation: keyof typeof ACCEPTED_FROM, cluster: Cluster): void {
  if (ACCEPTED_FROM[operation].includes(cluster.status)) return;
  const settled = cluster.status === 'running' || cluster.status === 'suspended';
  const knob = settled ? world.knobs.redundantOperations : world.knobs.transitionalOperations;
  if (knob === 'accept') return;
  throw new Refusal(400, 'invalidClusterStatus', `Cannot ${operation} a cluster that is ${cluster.status}`);
}

function changeRunState(
  place: Place,
  operation: 'suspend' | 'resume',
  through: 'suspending' | 'resuming',
  to: ClusterStatus,
): Answer {
  const { world, now } = place;
  const cluster = clusterOf(place);
  accept(world, operation, cluster);
  if (cluster.status !== to && cluster.status !== through) begin(world, cluster, through, now);
  return answer(world, cluster);
}

function clusterOf({ world, space, clusterID, now }: Place): Cluster {
  return holderOf(world, space, clusterID, now) ?? missing('cluster', clusterID);
}

/** 409 is for deploy only (Errors), so everywhere else a taken id is a violated rule. */
function refuseTaken(world: World, space: Space, id: string, now: number): void {
  if (holderOf(world, space, id, now)) throw violation(world, 'clusterIDInUse', `Cluster id ${id} is in use`);
}

function enforce<Facts>(world: World, rules: readonly Rule<Facts>[], facts: Facts): void {
  for (const rule of rules) {
    const message = rule.violation(facts);
    if (message !== undefined) throw violation(world, rule.name, message);
  }
}

function violation(world: World, code: string, message: string): Refusal {
  return new Refusal(world.knobs.ruleViolationStatus, code, message);
}

function missing(what: string, name: string): never {
  throw new Refusal(404, `${what}NotFound`, `There is no ${what} ${JSON.stringify(name)}`);
}

function answer(world: World, cluster: Cluster): Answer {
  return jsonText(200, renderCluster(world, cluster));
}
