// The disk as the checks of the daily tasks see it: the folder after a task, and the original.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

/** @typedef {import("../daily.mjs").Agent} Agent */
/** @typedef {[string, string | object]} One a tool and its arguments, in which ~ is the folder; or a folder and a shell command in it */
/** @typedef {One | ((agent: Agent, world: World) => Promise<string | void>)} Solve a function resolves with the answer to the user, made from the answers of tools */
/**
 * @typedef {object} Task
 * @property {string} name
 * @property {boolean} [changes] the folder is restored afterwards
 * @property {boolean} [follows] it goes on where the previous task ended
 * @property {(world: World, said: string) => boolean | Promise<boolean>} check whether the disk, or the answer, is right
 * @property {Solve} [official] none: the server can't do it
 * @property {Solve} [commander]
 * @property {Solve} [ours]
 */
/** @typedef {{ path: string, size: number, time: Date }} Found */

export class World {
  /** @param {string} root @param {string} original */
  constructor(root, original) {
    this.root = root;
    this.original = original;
  }

  /** The names in a folder, sorted; none if it is missing. @param {string} folder */
  names(folder, root = this.root) {
    try {
      return readdirSync(join(root, folder)).sort();
    } catch {
      return [];
    }
  }

  /** The same before the task. @param {string} folder */
  before(folder) {
    return this.names(folder, this.original);
  }

  /** A file's text; empty if it is missing. @param {string} file */
  text(file, root = this.root) {
    try {
      return readFileSync(join(root, file), "utf8");
    } catch {
      return "";
    }
  }

  /** The same before the task. @param {string} file */
  textBefore(file) {
    return this.text(file, this.original);
  }

  /** All files below a folder, before the task. @param {string} folder @returns {Found[]} */
  all(folder, root = this.original) {
    const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        const { size, mtime } = statSync(path);
        return { path: relative(join(root, folder), path), size, time: mtime };
      });
  }

  /** All folders below one, sorted, before the task. @param {string} folder */
  folders(folder, root = this.original) {
    const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory());
    return folders
      .map((entry) => relative(join(root, folder), join(entry.parentPath, entry.name)))
      .sort();
  }

  /** @param {string} file */
  size(file, root = this.root) {
    return statSync(join(root, file)).size;
  }

  /** The last characters of a file. @param {string} file @param {number} count */
  end(file, count) {
    return readFileSync(join(this.root, file), "latin1").slice(-count);
  }

  /** A hash of the paths and contents below a folder. @param {string} folder */
  hash(folder, root = this.root) {
    const hash = createHash("sha256");
    for (const { path } of this.all(folder, root).sort((a, b) => (a.path < b.path ? -1 : 1)))
      hash.update(
        `${path}\0${createHash("sha256")
          .update(readFileSync(join(root, folder, path)))
          .digest("hex")}\n`,
      );
    return hash.digest("hex");
  }

  /** Whether a folder has the same files as before the task. @param {string} folder */
  unchanged(folder) {
    return this.hash(folder) === this.hash(folder, this.original);
  }
}
