/** The Lease in the operator's own namespace for the process that acts alone, or for replicas that share the work, together. */
export const LEADER_LEASE = 'mooring';
/** Each replica that shares the work has a Lease of its own with this prefix, among others of that namespace. */
export const REPLICA_LEASE_PREFIX = 'mooring-replica-';
