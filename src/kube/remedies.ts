import type { ApiError } from '../http/api-error.ts';
import { RECONCILE_AT } from './annotations.ts';

/*
 * What a person can do. Nothing else in kube/ knows fields of our kinds; these words do, because it is `runtime/` that turns every error
 * into a failure, and it sees neither clients nor kinds.
 */

interface Side {
  readonly name: 'the cloud' | 'the server';
  readonly at: 'in' | 'on';
  /** The field of the DatabaseSpace that leads there. */
  readonly url: 'baseURL' | 'serverURL';
  /** What to look at if there is no answer. */
  readonly look: string;
}

/** After a refusal, tries are up to half an hour apart, and nobody reports what was corrected in the cloud or on a server. */
const NOW_AND_THEN = `Mooring tries again now and then, and at once if this object is annotated with a new ${RECONCILE_AT}`;

function remediesOn({ name, at, url, look }: Side) {
  const again = 'Mooring tries again. If this persists,';
  const silent = `${again} ${look}`;
  const leads = `that ${url} of the DatabaseSpace leads to ${name}, and that no proxy answers in its place`;
  const badAnswer = `${again} check ${leads}`;
  const notFound = `${again} check whether it is there, ${leads}`;
  // Also for a conflict: an id that is in use has words of its own, and other calls conflict with a state that passes.
  const refused = `Change the spec, or what the answer names ${at} ${name}; ${NOW_AND_THEN}`;
  return {
    unreachable: silent,
    lost: silent,
    unavailable: silent,
    badAnswer,
    notFound,
    conflict: refused,
    invalid: refused,
  };
}

type Remedies = Readonly<Partial<Record<ApiError['kind'], string>>>;

const REMEDIES: Remedies = {
  ...remediesOn({
    name: 'the cloud',
    at: 'in',
    url: 'baseURL',
    look: "see what the DatabaseSpace says; if it is Ready, ask the cloud's support",
  }),
  unauthorized: 'Check the Secret that holds the login or API token',
  forbidden:
    'Give the DatabaseSpace an API token of that level for this very space: one for another space is refused too',
};

/** A database server has logins but no API tokens: only its default user may manage others (compatibility.md). */
const SERVER_REMEDIES: Remedies = {
  ...REMEDIES,
  ...remediesOn({
    name: 'the server',
    at: 'on',
    url: 'serverURL',
    look: 'check that the server runs, and network policies and proxies on the way',
  }),
  forbidden:
    "Only a server's default user may manage others. If Mooring works with another user's login there, put the default user's into a Secret, name it in adminCredentials.existingSecretRef of the DatabaseCluster, keep a copy of the admin Secret, and delete that; otherwise see what answers in front of the server",
};

/** It answers, but another server of the cluster takes the changes (compatibility.md: 421), or none does now. */
const NOT_PRIMARY =
  'Mooring tries again, at the server that it names if that runs, or else at the next one. If this persists, see status.servers of the DatabaseCluster, and what the cloud shows of them';

/** Nothing in the spec is to blame for what is refused when its object goes. */
const DELETION_REMEDY = `Correct what the answer names there; ${NOW_AND_THEN}`;

const DELETION = /^(?:delete|destroy)/;

/** What went wrong, and what a person can do about it. */
export function withRemedy(error: ApiError): string {
  const { api, kind, operation, message, status } = error;
  if (api === 'server' && status === 421) return `${message}. ${NOT_PRIMARY}`;
  const isRefusedDeletion = (kind === 'conflict' || kind === 'invalid') && DELETION.test(operation);
  const remedy = isRefusedDeletion ? DELETION_REMEDY : (api === 'cloud' ? REMEDIES : SERVER_REMEDIES)[kind];
  return remedy === undefined ? message : `${message}. ${remedy}`;
}
