import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ensureDirectory } from "@refmcp/boundary";
import { nearest, sized, ToolError } from "@refmcp/boundary/answer";
import type { BrowserContext } from "playwright";
import { failure } from "../errors.ts";
import { replaceFile } from "./disk.ts";

/** Cookies and local storage, as Playwright saves them. */
export type SavedState = Awaited<ReturnType<BrowserContext["storageState"]>>;

const MAX_STATES = 50;
const MAX_BYTES = 1_000_000;

/**
 * Named signed-in states, so that a later run can start signed in. They contain session tokens: only this user can
 * read the folder, and no tool returns its contents.
 */
export class StateStore {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  async names(): Promise<string[]> {
    const files = await readdir(this.folder).catch(() => []);
    return files.flatMap((name) => (name.endsWith(".json") ? [name.slice(0, -5)] : [])).sort();
  }

  /** @throws ToolError `not_found` for an unknown name, with the existing ones. */
  async read(name: string): Promise<SavedState> {
    try {
      return JSON.parse(await readFile(this.#path(name), "utf8"));
    } catch (error) {
      const names = await this.names();
      const near = nearest(name, names, 3);
      const shown = (near.length > 0 ? near : names.slice(0, 10)).join(", ");
      throw failure("state", `There is no saved state ${JSON.stringify(name)}.`, {
        hint: `${shown === "" ? "" : `Saved states: ${shown}. `}Sign in with steps that end with "save state '${name}'".`,
        cause: error,
      });
    }
  }

  /**
   * Saves a state atomically.
   *
   * @throws ToolError `too_large` for more than 1 MB, or for the 51st name.
   */
  async write(name: string, state: SavedState): Promise<void> {
    const text = JSON.stringify(state);
    if (text.length > MAX_BYTES)
      throw new ToolError(
        "too_large",
        `The state is ${sized(text.length)}; the limit is ${sized(MAX_BYTES)}.`,
      );
    ensureDirectory(this.folder, 0o700);
    const names = await this.names();
    if (names.length >= MAX_STATES && !names.includes(name))
      throw new ToolError(
        "too_large",
        `There are ${names.length} saved states; the limit is ${MAX_STATES}.`,
        {
          hint: `Save under an existing name, or delete files in ${this.folder}.`,
        },
      );
    await replaceFile(this.#path(name), text, 0o600);
  }

  /** Names are checked by the language: no separator, no dot. */
  #path(name: string): string {
    if (!/^[A-Za-z0-9][\w-]{0,63}$/.test(name)) throw new TypeError(`invalid state name: ${name}`);
    return join(this.folder, `${name}.json`);
  }
}

/** The values of a state that look like tokens. */
export const tokensOf = ({ cookies, origins }: SavedState): string[] =>
  [
    ...cookies.map(({ value }) => value),
    ...origins.flatMap(({ localStorage }) => localStorage.map(({ value }) => value)),
  ].filter((value) => value.length >= 16 && value.length <= 4_096 && !/\s/.test(value));
