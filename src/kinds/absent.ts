/**
 * How long the cloud or a server must not show something before that is believed: not all machines that answer are equally quick, and
 * one that has just started may not show all that it has.
 */
export const ABSENT_MS = 20_000;
