/** The Lease of the process that acts alone, in the operator's own namespace; or of replicas that share the work, together. */
export const LEADER_LEASE = 'mooring';
/** The Leases that replicas which share the work have each for itself, among others of that namespace. */
export const REPLICA_LEASE_PREFIX = 'mooring-replica-';
