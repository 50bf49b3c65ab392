import { GROUP } from '../../../base/group.ts';
import { ROTATION_ANNOTATIONS } from '../../rotation.ts';

/** Annotations of connection Secrets. */
export const SECRET_ANNOTATIONS = {
  /** Changes whenever the contents do, except for nextPassword. Reveals nothing about the password. */
  checksum: `${GROUP}/checksum`,
  passwordChangedAt: `${GROUP}/password-changed-at`,
  /** Keys of the labels and annotations that come from the spec, so that they are removed when the spec drops them. */
  applied: `${GROUP}/applied`,
  nextAnswers: ROTATION_ANNOTATIONS.answers,
  nextMark: ROTATION_ANNOTATIONS.mark,
  rotation: ROTATION_ANNOTATIONS.made,
  /** Keys of the passwords that a person chose, through passwordSecretRef. */
  own: `${GROUP}/own-password`,
} as const;
