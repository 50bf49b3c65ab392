/** The Lease of the process that acts alone, in the operator's own namespace. */
export const LEADER_LEASE = 'mooring';
/** Leases of replicas that share the work, among others of that namespace. */
export const REPLICA_LEASE_PREFIX = 'mooring-replica-';
