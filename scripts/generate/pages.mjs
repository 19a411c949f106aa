// The generated parts of pages, and writing them; with `check` it is only noted which are not current.
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { relative } from "node:path";
import { ROOT } from "../lib/setup.mjs";
import { hostParts } from "./host-pages.mjs";
import { readmeParts, rootParts } from "./readme.mjs";

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

/**
 * The generated parts of all pages that people wrote.
 *
 * @param {import("./surface.mjs").Server[]} servers
 * @param {import("./surface.mjs").State} state
 * @returns {Promise<Record<string, Record<string, string>>>} page → name of the part → text
 */
export async function pageParts(servers, state) {
  /** @type {Record<string, Record<string, string>>} */
  const pages = {
    "README.md": await rootParts(servers, state),
    "docs/hosts.md": await hostParts(servers, state),
  };
  for (const server of servers)
    pages[`servers/${server.name}/README.md`] = await readmeParts(server, state);
  return pages;
}
