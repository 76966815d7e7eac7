/** What the garbage collector may leave lying, in MB. */
const SLACK_MB = 96;

/** True if the last third of a run stands no higher than the middle third did, but for what is not collected yet. */
export function isFlat(memoryMb: readonly number[]): boolean {
  const third = Math.floor(memoryMb.length / 3);
  const middle = Math.max(...memoryMb.slice(third, -third));
  return Math.max(...memoryMb.slice(-third)) <= middle * 1.25 + SLACK_MB;
}
