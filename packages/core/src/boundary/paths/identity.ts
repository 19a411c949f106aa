/** What identifies a file whatever its path: numbers of a `bigint` stat, since inodes may pass 2^53. */
export interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

export function isSame(a: Identity, b: Identity): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}
