import { isOfGroup } from '../base/group.ts';
import { ADMIN_ANNOTATIONS, OWNER_LABEL, ownerValue, type SecretContents, USER_LABEL } from './secrets.ts';

/** The object that a Secret belongs to. */
export interface SecretHolder {
  readonly kind: string;
  /** Undefined: the Secret does not say. */
  readonly name: string | undefined;
}

/**
 * Returns an object of ours other than `self` that the Secret names as its owner; undefined: it names none. Labels are easily
 * written by hand, so a label alone must not make an object the owner of another's login: everything the Secret says counts.
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
  // A restored object has another uid but the same name.
  const isSelf = ({ kind, name }: SecretHolder) =>
    kind === self.kind && (name === undefined || ownerValue(name) === ownerValue(self.name));
  const other = told.find((holder) => !isSelf(holder));
  return other && { kind: other.kind, name: other.name };
}

/** For people, after "Secret ... belongs to". */
function holderWords({ kind, name }: SecretHolder): string {
  return name === undefined ? `another ${kind}` : `${kind} "${name}"`;
}

/** Why an existing Secret is not written to. `labels`: those that one of the object's has, from `labelsInWords`; `rename`: how to choose another name. */
export function takenWords(secretName: string, by: SecretHolder | undefined, labels: string, rename: string): string {
  const secret = `Secret "${secretName}"`;
  if (by !== undefined) return `${secret} belongs to ${holderWords(by)}, so it is left alone: ${rename}`;
  return `${secret} exists and is not Mooring's, so it is not overwritten: ${rename}. If it was restored, or lost its labels, give it back ${labels}; delete it only if nothing needs it`;
}
