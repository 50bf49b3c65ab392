import { z } from 'zod';
import { FAULT_EFFECTS, type Fault, type FaultEffect } from '../faults/faults.ts';
import type { Outsider } from '../outsider.ts';

/* Requests under `/_simulator/`, read from JSON. Throws an Error with a message for people. */

const text = z.string().exactOptional();

const faultSchema = z.strictObject({
  effect: z.enum(Object.keys(FAULT_EFFECTS) as FaultEffect[]),
  match: z
    .strictObject({
      api: z.enum(['cloud', 'server']).exactOptional(),
      operation: z.union([z.string(), z.array(z.string())]).exactOptional(),
      method: text,
      teamID: text,
      spaceID: text,
      clusterID: text,
      databaseName: text,
      username: text,
    })
    .exactOptional(),
  times: z.int().min(1).exactOptional(),
  skip: z.int().min(0).exactOptional(),
  probability: z.number().min(0).max(1).exactOptional(),
  status: z.int().min(400).max(599).exactOptional(),
  delayMs: z.int().min(0).exactOptional(),
  retryAfterSeconds: z.int().min(0).exactOptional(),
});

export function readFault(value: unknown): Fault {
  return checked(faultSchema, value);
}

const place = { clusterID: z.string(), teamID: text, spaceID: text };
const onCluster = z.strictObject(place);
const onUser = z.strictObject({ ...place, username: z.string() });
const onDatabase = z.strictObject({ ...place, databaseName: z.string() });
const integer = z.int().exactOptional();

const foreignSchema = z.strictObject({
  id: z.string(),
  teamID: text,
  spaceID: text,
  serverCount: integer,
  storageSizeGB: integer,
  provider: text,
  isFree: z.boolean().exactOptional(),
  region: text,
  machineType: text,
  storageType: text,
  version: text,
  backupConfiguration: z.strictObject({ frequency: z.string(), retentionDays: z.int() }).exactOptional(),
});

const changeSchema = z.strictObject({
  ...place,
  change: z.strictObject({ id: text, storageSizeGB: integer, machineType: text }),
});

const arrangedSchema = z.strictObject({
  ...place,
  servers: z.array(
    z.strictObject({
      address: text,
      status: z.enum(['pending', 'running']).exactOptional(),
      isPrimary: z.boolean().exactOptional(),
    }),
  ),
});

const transitionSchema = z.strictObject({ ...place, status: z.enum(['suspending', 'resuming', 'destroying']) });

const passwordSchema = z.strictObject({ ...place, username: z.string(), password: z.string() });

/** The actions of an outsider by name, each parsing its own input. */
const ACTS: Readonly<Record<Exclude<keyof Outsider, 'passwordIs'>, (outsider: Outsider, value: unknown) => void>> = {
  deployForeign: (outsider, value) => outsider.deployForeign(checked(foreignSchema, value)),
  replaceCluster: (outsider, value) => outsider.replaceCluster(checked(onCluster, value)),
  vanish: (outsider, value) => outsider.vanish(checked(onCluster, value)),
  beginTransition: (outsider, value) => {
    const { status, ...ref } = checked(transitionSchema, value);
    outsider.beginTransition(ref, status);
  },
  changeCluster: (outsider, value) => {
    const { change, ...ref } = checked(changeSchema, value);
    outsider.changeCluster(ref, change);
  },
  restartServers: (outsider, value) => outsider.restartServers(checked(onCluster, value)),
  moveServers: (outsider, value) => outsider.moveServers(checked(onCluster, value)),
  arrangeServers: (outsider, value) => {
    const { servers, ...ref } = checked(arrangedSchema, value);
    outsider.arrangeServers(ref, servers);
  },
  setPassword: (outsider, value) => {
    const { username, password, ...ref } = checked(passwordSchema, value);
    outsider.setPassword(ref, username, password);
  },
  deleteUser: (outsider, value) => {
    const { username, ...ref } = checked(onUser, value);
    outsider.deleteUser(ref, username);
  },
  createDatabase: (outsider, value) => {
    const { databaseName, ...ref } = checked(onDatabase, value);
    outsider.createDatabase(ref, databaseName);
  },
  dropDatabase: (outsider, value) => {
    const { databaseName, ...ref } = checked(onDatabase, value);
    outsider.dropDatabase(ref, databaseName);
  },
  setPaymentMethod: (outsider, value) => {
    const { teamID, valid } = checked(z.strictObject({ teamID: z.string(), valid: z.boolean() }), value);
    outsider.setPaymentMethod(teamID, valid);
  },
  endAccessTokens: (outsider, value) => {
    checked(z.strictObject({}), value);
    outsider.endAccessTokens();
  },
};

export const ACT_NAMES = Object.keys(ACTS);

export function act(outsider: Outsider, name: string, value: unknown): void {
  const run = Object.hasOwn(ACTS, name) ? ACTS[name as keyof typeof ACTS] : undefined;
  if (run === undefined) throw new Error(`There is no act ${name}, only ${ACT_NAMES.join(', ')}`);
  run(outsider, value);
}

function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error));
  return parsed.data;
}
