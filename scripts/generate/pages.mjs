// Writes generated files, or with `check` only notes which are not current.
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { relative } from "node:path";
import { ROOT } from "../lib/setup.mjs";

const MARKED = /(<!-- generated:(\w+) -->\n)[\s\S]*?(<!-- \/generated -->)/g;

/**
 * A page's text with its marked parts replaced.
 *
 * @type {(text: string, parts: Record<string, string>, page: string) => string}
 */
export function filled(text, parts, page) {
  return text.replace(MARKED, (_, start, name, end) => {
    const part = parts[name];
    if (part === undefined) throw new Error(`${page}: nothing is generated for ${name}.`);
    return `${start}\n${part.trim()}\n\n${end}`;
  });
}

export class Pages {
  #check;
  /** @type {string[]} */
  #stale = [];

  /** @param {{ check: boolean }} options `check`: nothing is written */
  constructor({ check }) {
    this.#check = check;
  }

  /**
   * Writes a whole file, or notes that it is not current.
   *
   * @param {string} file @param {string} content
   */
  async put(file, content) {
    if ((await readFile(file, "utf8").catch(() => undefined)) === content) return;
    this.#stale.push(relative(ROOT, file).replaceAll("\\", "/"));
    if (this.#check) return;
    await writeFile(file, content);
  }

  /**
   * Replaces the marked parts of a page: `<!-- generated:NAME -->` … `<!-- /generated -->`. Missing pages are reported by the
   * structural tests.
   *
   * @param {string} page
   * @param {Record<string, string>} parts
   */
  async fill(page, parts) {
    if (!existsSync(page)) return;
    await this.put(page, filled(await readFile(page, "utf8"), parts, page));
  }

  /** Reports what was not current; returns false if that is a failure. */
  finish() {
    if (this.#stale.length === 0) return true;
    const list = this.#stale.join(", ");
    process.stderr.write(
      this.#check
        ? `Not current: ${list}. Run: npx -y pnpm@10.34.9 generate\n`
        : `Written: ${list}\n`,
    );
    return !this.#check;
  }
}
