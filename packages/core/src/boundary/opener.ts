import type { GuardedDirectory, GuardedFile } from "./types.ts";

/**
 * Opens what a path leads to, links followed, and verifies where it is before anybody reads from it. `path` is for
 * the system, `asked` for messages and for the result.
 *
 * Both throw `denied` (outside, device, FIFO, socket), `invalid` (of the other type), and errors of the operating
 * system as they are.
 */
export interface Opener {
  openFile(path: string, asked: string): Promise<GuardedFile>;
  openDirectory(path: string, asked: string): Promise<GuardedDirectory>;
}

/** One component, as `entry` demands it. */
export function checkEntryName(name: string): void {
  if (
    name === "." ||
    name === ".." ||
    /[/\0]/.test(name) ||
    (process.platform === "win32" && name.includes("\\"))
  ) {
    throw new TypeError(`Not the name of a directory's entry: ${JSON.stringify(name)}`);
  }
}
