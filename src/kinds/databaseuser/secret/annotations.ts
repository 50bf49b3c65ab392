import { GROUP } from '../../../base/group.ts';
import { NEXT_ANNOTATIONS } from '../../rotation.ts';

/** Annotations of connection Secrets. */
export const SECRET_ANNOTATIONS = {
  /** Changes whenever the contents do, except for nextPassword. Reveals nothing about the password. */
  checksum: `${GROUP}/checksum`,
  passwordChangedAt: `${GROUP}/password-changed-at`,
  /** Keys of the labels and annotations that come from the spec, so that they are removed when the spec drops them. */
  applied: `${GROUP}/applied`,
  nextAnswers: NEXT_ANNOTATIONS.answers,
  nextMark: NEXT_ANNOTATIONS.mark,
  /** Keys of the passwords that a person chose, through passwordSecretRef. */
  own: `${GROUP}/own-password`,
} as const;
