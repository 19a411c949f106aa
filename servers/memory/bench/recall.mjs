// Measures what a search finds: questions with known answers, about 300 facts written for this repository (evals/recall.json)
// and about the paragraphs of XQuAD, a public question-answering corpus. Compares with the official server and plain FTS5.
// Also runs on its own after a build: node servers/memory/bench/recall.mjs
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { peers, RawClient } from "../../../scripts/lib/bench-kit.mjs";

/** @typedef {{ name: string, entityType: string, observations: string[] }} Entity */
/** @typedef {{ entities: Entity[], questions: { query: string, answer: string }[] }} Corpus */
/** @typedef {{ paragraphs: [name: string, text: string][], questions: [query: string, at: number][] }} Paragraphs */
/** @typedef {{ search: (query: string) => Promise<string[]>, close: () => Promise<unknown> }} Searched */

export const title = "which questions a search can answer";

const OFFICIAL = { "@modelcontextprotocol/server-memory": "2026.8.31" };
const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
/** @param {string} path */
const read = async (path) => JSON.parse(await readFile(new URL(path, import.meta.url), "utf8"));

/**
 * The corpora: entities, and questions with the name of the entity that answers them.
 *
 * @returns {Promise<Record<string, Corpus>>}
 */
async function corpora() {
  const own = await read("../evals/recall.json");
  const xquad = await read("xquad.json");
  /** @type {(part: Paragraphs) => Corpus} */
  const paragraphs = ({ paragraphs: list, questions }) => ({
    entities: list.map(([name, text]) => ({
      name,
      entityType: "paragraph",
      observations: [...new Set(text.split(/(?<=[.!?])\s+|(?<=。)/))].filter(
        (line) => line.trim() !== "",
      ),
    })),
    questions: questions.map(([query, at]) => ({ query, answer: list[at]?.[0] ?? "" })),
  });
  /** @type {Record<"answer" | "question" | "keywords", string>[]} */
  const asked = own.questions;
  /** @param {"question" | "keywords"} form */
  const as = (form) => asked.map(({ answer, ...texts }) => ({ query: texts[form], answer }));
  return {
    "300 facts, as a person asks": { entities: own.entities, questions: as("question") },
    "300 facts, keywords with synonyms": { entities: own.entities, questions: as("keywords") },
    "XQuAD, English": paragraphs(xquad.en),
    "XQuAD, Chinese": paragraphs(xquad.zh),
  };
}

/**
 * A search function over a server with these entities.
 *
 * @type {(argv: string[], env: NodeJS.ProcessEnv, entities: Entity[]) => Promise<Searched>}
 */
async function server(argv, env, entities) {
  const client = new RawClient(argv, { env: { ...process.env, ...env } });
  await client.initialize();
  await client.call("create_entities", { entities });
  return {
    search: async (query) => {
      const { structuredContent } = await client.call("search_nodes", { query });
      return structuredContent["entities"].map((/** @type {Entity} */ { name }) => name);
    },
    close: () => client.close(),
  };
}

/** One FTS5 row for each entity, any word, bm25(), no stemmer. @type {(entities: Entity[]) => Searched} */
function plain(entities) {
  const Sqlite = createRequire(import.meta.url)("better-sqlite3");
  const db = new Sqlite(":memory:");
  db.exec("CREATE VIRTUAL TABLE t USING fts5 (name, type, content)");
  const insert = db.prepare("INSERT INTO t VALUES (?, ?, ?)");
  for (const { name, entityType, observations } of entities)
    insert.run(name, entityType, observations.join("\n"));
  const select = db.prepare("SELECT name FROM t WHERE t MATCH ? ORDER BY rank LIMIT 20").pluck();
  return {
    search: async (query) => {
      const words = query.match(/[\p{L}\p{N}]+/gu) ?? [];
      return select.all(words.map((word) => `"${word}"`).join(" OR "));
    },
    close: async () => db.close(),
  };
}

/** @param {{ report: import("../../../scripts/lib/bench-kit.mjs").Report }} harness */
export async function bench({ report }) {
  const official = (await peers(OFFICIAL))("@modelcontextprotocol/server-memory/dist/index.js");
  const folder = await mkdtemp(join(tmpdir(), "refmcp-bench-recall-"));
  const rows = [];
  try {
    for (const [name, { entities, questions }] of Object.entries(await corpora())) {
      /** @param {string} file */
      const at = (file) => join(folder, `${rows.length} ${file}`);
      const servers = [
        await server(
          [process.execPath, official],
          { MEMORY_FILE_PATH: at("official.jsonl") },
          entities,
        ),
        plain(entities),
        await server([process.execPath, BIN, "--file", at("here.db")], {}, entities),
      ];
      /** @type {string[]} */
      const hits = [];
      for (const { search, close } of servers) {
        let [first, five, nameCount] = [0, 0, 0];
        for (const { query, answer } of questions) {
          const names = await search(query);
          nameCount += names.length;
          if (names[0] === answer) first += 1;
          if (names.slice(0, 5).includes(answer)) five += 1;
        }
        hits.push(`${five} / ${first} / ${(nameCount / questions.length).toFixed(1)}`);
        await close();
      }
      rows.push([`${name} (${questions.length})`, ...hits]);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  report({
    title: "Answer within the first five / answer first / entities shown on average",
    columns: ["questions", "official", "plain FTS5", "here"],
    rows,
    notes: [
      "XQuAD (Artetxe, Ruder and Yogatama 2020, CC BY-SA 4.0): each paragraph is an entity, its sentences are observations. Of the 120 questions about 300 facts, 100 (with typos, inflections, paraphrases, 10 in other languages) were written before the search, and 20 later; keywords are what a careful model sends.",
    ],
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bench({
    report: ({ title: name, columns, rows, notes = [] }) =>
      process.stdout.write(
        `\n${name}\n${[columns, ...rows].map((row) => row.join(" | ")).join("\n")}\n${notes.map((note) => `${note}\n`).join("")}`,
      ),
  });
}
