// A realistic change of 30 files in a small web shop, the same on every run: code in several languages, a renamed, a deleted and a
// binary file.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { git } from "../../../servers/git/test/fixture.ts";

const NOUNS =
  "order customer product invoice shipment refund coupon review address warehouse".split(" ");
const upper = (noun: string) => noun.charAt(0).toUpperCase() + noun.slice(1);

const store = (noun: string, isNew: boolean) => `import type { Database } from "../database.ts";
import { ${isNew ? "NotFound, " : ""}type Page } from "../types.ts";

/** Reads and writes ${noun}s. */
export class ${upper(noun)}Store {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The ${noun} with an id. */
  async find(id: number): Promise<${upper(noun)}${isNew ? "" : " | undefined"}> {
    const [row] = await this.#database.all("SELECT * FROM ${noun}s WHERE id = ?", id);
${isNew ? `    if (row === undefined) throw new NotFound(\`There is no ${noun} \${id}.\`);\n` : ""}    return row;
  }

  /** A page of ${noun}s, the newest first. */
  async list({ limit = ${isNew ? 50 : 20}, before }: Page): Promise<${upper(noun)}[]> {
    const where = before === undefined ? "" : "WHERE id < ?";
    return this.#database.all(\`SELECT * FROM ${noun}s \${where} ORDER BY id DESC LIMIT ?\`, ${isNew ? "before, limit" : "limit"});
  }
}
`;
const test = (noun: string, isNew: boolean) => `import pytest
from shop.${noun}s import ${upper(noun)}, find_${noun}


def test_${noun}_is_found(database):
    """A stored ${noun} is returned with its id."""
    created = ${upper(noun)}.create(database, name="first")
    assert find_${noun}(database, created.id) ${isNew ? "== created" : "is not None"}

${isNew ? `\ndef test_missing_${noun}(database):\n    with pytest.raises(LookupError, match="no ${noun} 7"):\n        find_${noun}(database, 7)\n` : ""}`;
const styles = (isNew: boolean) => `.price {
  color: ${isNew ? "var(--accent)" : "#c00"};
  font-weight: 600;
}

.price--old {
  text-decoration: line-through;
${isNew ? "  opacity: 0.6;\n" : ""}}
`;
const migration = (noun: string) => `-- Finds the newest ${noun}s of a customer without a scan.
CREATE INDEX ${noun}s_by_customer ON ${noun}s (customer_id, created_at DESC);
UPDATE ${noun}s SET status = 'open' WHERE status IS NULL;
`;

/** Files by path; undefined does not exist. */
function filesOf(isNew: boolean): Record<string, string | Buffer | undefined> {
  return {
    ...Object.fromEntries(NOUNS.map((noun) => [`src/stores/${noun}-store.ts`, store(noun, isNew)])),
    ...Object.fromEntries(NOUNS.map((noun) => [`tests/test_${noun}s.py`, test(noun, isNew)])),
    ...Object.fromEntries(
      NOUNS.slice(0, 4).map((noun, at) => [
        `migrations/00${at + 4}_${noun}s.sql`,
        isNew ? migration(noun) : undefined,
      ]),
    ),
    "src/styles/price.css": styles(isNew),
    [isNew ? "src/http/server.ts" : "src/server.ts"]:
      `import { createServer } from "node:http";\n\nconst PORT = ${isNew ? "Number(process.env.PORT ?? 8080)" : "8080"};\n\n${store("session", false)}\ncreateServer((request, response) => response.end(request.url)).listen(PORT);\n`,
    "src/legacy.js": isNew ? undefined : "module.exports = require('./stores/order-store');\n",
    "assets/logo.png": Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, isNew ? 2 : 1, 0, 0]),
    "package.json": `${JSON.stringify({ name: "shop", version: isNew ? "2.0.0" : "1.9.3", type: "module", engines: { node: isNew ? ">=20" : ">=18" } }, undefined, 2)}\n`,
    "README.md": `# Shop\n\nA small shop. Start it with \`npm start\`${isNew ? " and open http://localhost:8080" : ""}.\n`,
  };
}

/** Makes a repository with two commits, between which 30 files changed. */
export function shopRepository(folder: string): void {
  git(folder, "init", "--quiet", "--initial-branch=main");
  git(folder, "config", "user.name", "Ada");
  git(folder, "config", "user.email", "ada@example.org");
  for (const isNew of [false, true]) {
    for (const [path, content] of Object.entries(filesOf(!isNew)))
      if (content !== undefined) rmSync(join(folder, path), { force: true });
    for (const [path, content] of Object.entries(filesOf(isNew))) {
      if (content === undefined) continue;
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    git(folder, "add", "--all");
    git(
      folder,
      "commit",
      "--quiet",
      `--message=${isNew ? "Stores throw for what is missing" : "Shop"}`,
    );
  }
}
