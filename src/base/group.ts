/** The API group. Every finalizer, label and annotation of ours starts with it. */
export const GROUP = 'mooring.dev';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;
