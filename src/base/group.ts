/** The API group. All our finalizers, labels and annotations start with it. */
export const GROUP = 'mooring.dev';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;

/** Reports whether a finalizer, label, annotation or apiVersion belongs to the group. */
export function isOfGroup(name: string): boolean {
  return name.startsWith(`${GROUP}/`);
}
