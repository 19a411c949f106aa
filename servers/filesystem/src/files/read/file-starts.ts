import { createHash } from "node:crypto";
import { fstatSync, readSync } from "node:fs";

/** How much of a file is compared before all of it. */
export const START_BYTES = 16 * 1024;

/** Whether two files can be the same, and whether they are one file with two names. */
export interface FileStart {
  readonly size: number;
  readonly inode: string;
  /** Of the first 16 KiB. */
  readonly hash: string;
}

const buffer = Buffer.allocUnsafeSlow(START_BYTES);

/** @throws the system's error for a file that cannot be read. */
export function startOf(fd: number): FileStart {
  const { size, dev, ino } = fstatSync(fd);
  let filled = 0;
  while (filled < START_BYTES) {
    const read = readSync(fd, buffer, filled, START_BYTES - filled, filled);
    if (read === 0) break;
    filled += read;
  }
  const hash = createHash("sha256").update(buffer.subarray(0, filled)).digest("base64");
  return { size, inode: `${dev}:${ino}`, hash };
}
