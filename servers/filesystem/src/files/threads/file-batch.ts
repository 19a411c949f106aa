import type { Met } from "../tree/walk.ts";

/** So few that other calls get their turn in between. */
const MAX_FILES = 128;
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

  /** Whether it should be worked on before more is added. */
  get isFull(): boolean {
    return this.paths.length >= MAX_FILES || this.#directories.length >= MAX_DIRECTORIES;
  }

  /** For `filesIn`. */
  get text(): string {
    const parts = this.#directories.map(({ at, from }, index) => {
      const end = this.#directories[index + 1]?.from;
      return [at, ...this.#names.slice(from, end)].join("\0");
    });
    return parts.join("\0\0");
  }

  release(): void {
    for (const release of this.#release.splice(0)) release();
  }
}

/** The files of a batch in order: the path for fs calls on their directory, and their names. */
export function* filesIn(text: string): Generator<{ at: string; name: string }> {
  for (const part of text.split("\0\0")) {
    const [at = "", ...names] = part.split("\0");
    for (const name of names) yield { at, name };
  }
}
