import type { Met } from "../tree/walk.ts";

const MAX_FILES = 512;
/** Each directory of a batch uses a descriptor. */
const MAX_DIRECTORIES = 64;

/**
 * Files of a walk for a thread, as one text: the files of a directory after the path for fs calls on it, since each
 * string of a message is copied on its own. The directories stay open until `release`.
 */
export class FileBatch {
  /** Below the walk's start. */
  readonly paths: string[] = [];
  readonly #names: string[] = [];
  readonly #directories: { readonly at: string; readonly from: number }[] = [];
  readonly #release: (() => void)[] = [];
  #parent: Met["parent"] | undefined;

  add({ path, name, parent }: Met): void {
    if (parent !== this.#parent) {
      this.#parent = parent;
      this.#directories.push({ at: parent.entry(""), from: this.paths.length });
      this.#release.push(parent.keep());
    }
    this.paths.push(path);
    this.#names.push(name);
  }

  get isEmpty(): boolean {
    return this.paths.length === 0;
  }

  /** Whether it should be searched before more is added. */
  get isFull(): boolean {
    return this.paths.length >= MAX_FILES || this.#directories.length >= MAX_DIRECTORIES;
  }

  /** The files from the one at index `start`, for `filesIn`. */
  text(start: number): string {
    const parts = this.#directories.map(({ at, from }, index) => {
      const end = this.#directories[index + 1]?.from;
      return [at, ...this.#names.slice(Math.max(start, from), end)];
    });
    return parts
      .filter(({ length }) => length > 1)
      .map((part) => part.join("\0"))
      .join("\0\0");
  }

  release(): void {
    for (const release of this.#release) release();
  }
}

/** The files of a batch in order: the path for fs calls on their directory, and their names. */
export function* filesIn(text: string): Generator<{ at: string; names: readonly string[] }> {
  for (const part of text.split("\0\0")) {
    const [at = "", ...names] = part.split("\0");
    yield { at, names };
  }
}
