import type { Met } from "../tree/walk.ts";

/** So few that other calls get their turn in between. */
const MAX_FILES = 128;
/** Each directory of a batch uses a descriptor. */
const MAX_DIRECTORIES = 64;

/** The files of a directory: the path for fs calls on it, and their names. */
export interface BatchDirectory {
  readonly at: string;
  readonly names: string[];
}

/** Files of a walk for a thread. Their directories stay open until `release`. */
export class FileBatch {
  /** Below the walk's start. */
  readonly paths: string[] = [];
  readonly directories: BatchDirectory[] = [];
  readonly #release: (() => void)[] = [];
  #parent: Met["parent"] | undefined;

  add({ path, name, parent }: Met): void {
    if (parent !== this.#parent) {
      this.#parent = parent;
      this.directories.push({ at: parent.entry(""), names: [] });
      this.#release.push(parent.keep());
    }
    this.paths.push(path);
    this.directories.at(-1)?.names.push(name);
  }

  /** Whether it should be worked on before more is added. */
  get isFull(): boolean {
    return this.paths.length >= MAX_FILES || this.directories.length >= MAX_DIRECTORIES;
  }

  release(): void {
    for (const release of this.#release.splice(0)) release();
  }
}
