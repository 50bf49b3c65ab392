/*
 * What Kubernetes accepts as names within an object: apimachinery's IsQualifiedName, IsValidLabelValue and IsConfigMapKey. RE2, which the
 * API server runs, and JavaScript read these patterns alike.
 */

const DNS_NAME = '[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const NAME = '[A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?';

/** The DNS name before the slash may have 253 characters, which a pattern cannot express. */
export const LABEL_KEY = `^(${DNS_NAME}/)?${NAME}$`;
export const LABEL_VALUE = `^(${NAME})?$`;
/** Like a label's key, except that its DNS name may have capital letters. */
export const ANNOTATION_KEY = `^(${DNS_NAME.replaceAll('a-z', 'a-zA-Z')}/)?${NAME}$`;
/** A key in a Secret's data, which becomes the name of a file: not `.` or `..`, and nothing that begins with two dots. */
export const SECRET_KEY = '^([-_a-zA-Z0-9]|[.][-_a-zA-Z0-9])[-._a-zA-Z0-9]*$';

export const MAX_DNS_NAME = 253;

const objectName = new RegExp(`^${DNS_NAME}$`);
const labelKey = new RegExp(LABEL_KEY);
const labelValue = new RegExp(LABEL_VALUE);
const annotationKey = new RegExp(ANNOTATION_KEY);
const secretKey = new RegExp(SECRET_KEY);

/** For the kinds that are read and written here. */
export function isObjectName(name: string): boolean {
  return name.length <= MAX_DNS_NAME && objectName.test(name);
}

export function isLabelKey(key: string): boolean {
  return isQualified(labelKey, key);
}

export function isAnnotationKey(key: string): boolean {
  return isQualified(annotationKey, key);
}

export function isLabelValue(value: string): boolean {
  return labelValue.test(value);
}

export function isSecretKey(key: string): boolean {
  return key.length <= MAX_DNS_NAME && secretKey.test(key);
}

function isQualified(pattern: RegExp, key: string): boolean {
  return key.indexOf('/') <= MAX_DNS_NAME && pattern.test(key);
}
