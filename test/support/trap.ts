import type { Gate } from './gate.ts';

/** A gate for requests to the cloud and, from the frozen process, to Kubernetes. Holds back the first answer of one name. */
export function createTrap(wanted: string) {
  const released = Promise.withResolvers<void>();
  const changes: string[] = [];
  let sprung = false;
  let watching = false;
  const gate: Gate = async (what, pass) => {
    // A sign-in or a token request changes nothing; a Lease is used to find out whether changes are allowed.
    if (watching && !/^GET |^POST \/(auth|signin)$| leases\//.test(what)) changes.push(what);
    const outcome = await pass();
    if (what === wanted && !sprung) {
      sprung = true;
      await released.promise;
    }
    return outcome;
  };
  return {
    gate,
    isSprung: () => sprung,
    release: () => released.resolve(),
    watch: () => {
      watching = true;
    },
    changes: () => changes,
  };
}
