/** The API group. Every finalizer, label and annotation of ours starts with it. */
export const GROUP = 'mooring.dev';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;

/** Whether a finalizer, label or annotation is of the group, or an object with this apiVersion is. */
export function isOfGroup(name: string): boolean {
  return name.startsWith(`${GROUP}/`);
}
