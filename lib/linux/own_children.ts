/**
 * Programs that were started outside of the table of processes, by whoever waits for them himself. As process 1 we take
 * the exit statuses of all others.
 */
export const ownChildren: Set<number> = new Set();
