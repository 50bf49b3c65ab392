import { LOOK_THERE } from '../../../kube/annotations.ts';
import type { ConditionUpdate } from '../../../kube/condition.ts';
import { labelsInWords, OWNER_LABEL } from '../../secrets.ts';
import type { ClusterSubject, TriedLogin } from '../observation.ts';
import { loginWorks } from '../present.ts';

/** What a person must mend about a login: before, no password may or can be replaced. */
interface WrongLogin {
  readonly reason: string;
  readonly message: string;
  readonly available: ConditionUpdate;
  /** Absent: what was found says nothing about the login that new clusters come with. */
  readonly secured?: ConditionUpdate;
}

/** For a login that was just tried at that server; undefined: there is nothing that only a person could mend. */
export function whatIsWrong(subject: ClusterSubject, endpoint: string, login: TriedLogin): WrongLogin | undefined {
  const { working, next, isAwaited, managedBy, powerless, factoryAlive } = login;
  if (login.acceptsAny) return anyPassword(endpoint);
  // Not all machines may know of a new password yet.
  if (working === 'none' && !isAwaited) return noLogin(subject, login);
  if (managedBy !== undefined) return mistaken(endpoint, login, managedBy);
  // A coming password goes first, and the factory's is retired whoever else can sign in.
  const isLast = working !== 'next' && next !== 'ours' && factoryAlive !== true;
  return powerless !== undefined && isLast ? lacksRights(login, powerless) : undefined;
}

/** Whether no password may or can be replaced. That lasts until a person mends it, so nothing waits for it. */
export function needsPerson(login: TriedLogin): boolean {
  const isPowerless = login.powerless !== undefined && login.factoryAlive !== true;
  return isPowerless || login.managedBy !== undefined || login.acceptsAny === true;
}

function wrong(reason: string, message: string, known: Partial<WrongLogin> = {}): WrongLogin {
  const available: ConditionUpdate = { type: 'Available', status: 'False', reason, message };
  const secured: ConditionUpdate = { type: 'CredentialsSecured', status: 'False', reason, message };
  return { reason, message, available, secured, ...known };
}

/** Nothing is written: each new password would seem to work at once, and the one that the server really has might be lost. */
function anyPassword(endpoint: string): WrongLogin {
  return wrong(
    'AnyPasswordAccepted',
    `The server at ${endpoint} accepts any password, even one that it was never given, so no login there is safe, and no password is replaced: check whether its authentication is switched off, or something in front of it answers instead, ${LOOK_THERE}`,
  );
}

/** Only the default user may manage others, so another user's login is not what new clusters come with, and is left to that user. */
function mistaken(endpoint: string, { secretName, working }: TriedLogin, user: string): WrongLogin {
  const message = `The login that the space names in defaultCredentialsSecretRef works, but belongs to a user other than "${user}", who manages the users of this server and whose login is in Secret "${secretName}". No password is replaced: put the login that new clusters come with into the space's Secret, or, if that is the one in it, give its user another password`;
  return wrong('DefaultLoginMistaken', message, working === 'current' ? { available: loginWorks({ endpoint }) } : {});
}

/** The login is of no use to anything on the cluster, and its password is left to its user. */
function lacksRights({ working, secretName }: TriedLogin, user: string): WrongLogin {
  const secret =
    working === 'existing'
      ? ''
      : `. Then delete Secret "${secretName}", but keep a copy: nothing else may have that user's password`;
  const message = `The login of user "${user}" works, but may not manage users, as only the server's default user may: put that one's login into a Secret and name it in adminCredentials.existingSecretRef${secret}`;
  const { secured: _, ...known } = wrong('AccessDenied', message);
  return known;
}

/** Nothing that we know signs in. A password is never reset by guessing, and cannot be. */
function noLogin(subject: ClusterSubject, login: TriedLogin): WrongLogin {
  const [reason, what] = whatIsRefused(subject, login);
  const existing = subject.spec.adminCredentials?.existingSecretRef?.name;
  const tried =
    existing === undefined
      ? ''
      : `. The login in Secret "${existing}" (existingSecretRef) does not work either${padding(login, 'existing')}`;
  return wrong(
    reason,
    `${what}${tried}. Or put a login that works into a Secret and name it in adminCredentials.existingSecretRef`,
  );
}

/** The commonest mistake in a Secret that a person wrote, reported without its contents. */
function padding({ paddedIn }: TriedLogin, of: 'current' | 'existing' | 'factory'): string {
  if (paddedIn?.includes(of) !== true) return '';
  return ` (its username or password begins or ends with a space or a line break, such as the one that \`echo\` writes at the end)`;
}

function whatIsRefused({ metadata, spec, status }: ClusterSubject, login: TriedLogin): readonly [string, string] {
  const { secretName, secretVersion } = login;
  if (secretVersion !== undefined) {
    // For example, the cluster was taken over in place of another one.
    const why =
      status.credentials === undefined
        ? ', which Mooring has not seen work at this cluster: it is that of the cluster before, or was changed elsewhere. Set it on the server'
        : ': it was changed elsewhere. Set it back there';
    const refused = `The server refuses the password in Secret "${secretName}"${padding(login, 'current')}${why}`;
    return ['AdminLoginRefused', `${refused}, ${LOOK_THERE}`];
  }
  if (status.credentials !== undefined) {
    const kept = status.credentials.secretName;
    const gone =
      kept === secretName
        ? `Secret "${secretName}" is gone or holds no login any more`
        : `Secret "${kept}", from which the login was to move to "${secretName}", is gone or holds no login that works`;
    const labels = labelsInWords(OWNER_LABEL, metadata.name);
    return [
      'AdminLoginLost',
      `${gone}, and nobody else knows the password. Restore it, with keys username and password and labels ${labels}`,
    ];
  }
  const which = `the login that new clusters come with${padding(login, 'factory')}`;
  return ['DefaultLoginRefused', `The server refuses ${which}${unknownLogin(spec, login)}`];
}

/** Each new cluster of the space needs what is in it. */
const IF_WRONG = 'Correct that Secret only if new clusters come with another login';

/** What the login of a cluster that never had one of ours may be. */
function unknownLogin({ cloneFrom, spaceRef }: ClusterSubject['spec'], { hasFormer }: TriedLogin): string {
  const isWrong = `the Secret that DatabaseSpace "${spaceRef.name}" names in defaultCredentialsSecretRef is wrong`;
  if (cloneFrom?.clusterRef !== undefined && hasFormer === false)
    return `, and there is no Secret with a login of DatabaseCluster "${cloneFrom.clusterRef.name}", which was cloned: restore that Secret, or make another clone once that DatabaseCluster has a login that works; or ${isWrong}. ${IF_WRONG}`;
  if (cloneFrom?.clusterRef !== undefined)
    return `, and the one that DatabaseCluster "${cloneFrom.clusterRef.name}" has now: its password was replaced while the clone was made, and the clone has the one before, which a backup of that Secret may hold; or ${isWrong}. Make another clone`;
  if (cloneFrom !== undefined)
    return `: it has the login that cluster "${cloneFrom.clusterID ?? ''}" had when it was cloned, which is looked up only where cloneFrom.clusterRef names a DatabaseCluster; or ${isWrong}. ${IF_WRONG}`;
  return `: ${isWrong}, or this cluster had another login before. ${IF_WRONG}`;
}
