import { isOfGroup } from '../base/group.ts';
import { ADMIN_ANNOTATIONS, OWNER_LABEL, ownerValue, type SecretContents, USER_LABEL } from './secrets.ts';

/** Whose a Secret is. */
export interface SecretHolder {
  readonly kind: string;
  /** Undefined: the Secret does not say. */
  readonly name: string | undefined;
}

/**
 * Another object of ours than `self` that the Secret says it is of; undefined: it names none. A label is soon written by hand,
 * so that one alone must not make anybody the owner of a login that is somebody else's: all that the Secret says counts.
 */
export function otherHolder(
  self: { readonly kind: string; readonly name: string },
  { labels, annotations, ownerReferences }: Pick<SecretContents, 'labels' | 'annotations' | 'ownerReferences'>,
): SecretHolder | undefined {
  const cluster = 'DatabaseCluster';
  const told: readonly SecretHolder[] = [
    ...ownerReferences.filter(({ apiVersion }) => isOfGroup(apiVersion)),
    ...(labels[OWNER_LABEL] ? [{ kind: cluster, name: labels[OWNER_LABEL] }] : []),
    ...(labels[USER_LABEL] ? [{ kind: 'DatabaseUser', name: labels[USER_LABEL] }] : []),
    ...(annotations[ADMIN_ANNOTATIONS.loginOf] ? [{ kind: cluster, name: undefined }] : []),
  ];
  // A restored object has another uid, and its name still.
  const isSelf = ({ kind, name }: SecretHolder) =>
    kind === self.kind && (name === undefined || ownerValue(name) === ownerValue(self.name));
  const other = told.find((holder) => !isSelf(holder));
  return other && { kind: other.kind, name: other.name };
}

/** For people, after "Secret ... is of". */
export function holderWords({ kind, name }: SecretHolder): string {
  return name === undefined ? `another ${kind}` : `${kind} "${name}"`;
}

/** Why a Secret that is there is not written to. `label`: what one of ours has; `rename`: how to name another one. */
export function takenWords(secretName: string, by: SecretHolder | undefined, label: string, rename: string): string {
  const secret = `Secret "${secretName}"`;
  if (by !== undefined) return `${secret} is of ${holderWords(by)}, so it is left alone: ${rename}`;
  return `${secret} exists and is not Mooring's, so it is not overwritten: ${rename}. If it is a restored one, give it the labels ${label} and app.kubernetes.io/managed-by back; delete it only if nothing needs it`;
}
