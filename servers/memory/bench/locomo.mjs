// Measures whether a search shows the fact that answers a question about people with 80 to 170 facts: LoCoMo (Maharana and
// others, 2024), dialogs 0 to 4. The other five dialogs are left alone, so that they can judge later. The data is not part of
// this repository; it is data/locomo10.json in clones of snap-research/locomo or amazon-science/MemInsight:
//   node servers/memory/bench/locomo.mjs PATH/locomo10.json
//   REFMCP_CORPORA=FOLDER pnpm bench memory      (with FOLDER/locomo or FOLDER/MemInsight)
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RawClient } from "../../../scripts/lib/bench-kit.mjs";

/** @typedef {{ name: string, entityType: string, observations: string[] }} Entity */
/** @typedef {{ observation: Record<string, Record<string, [text: string, evidence: string | string[]][]>>, qa: { question: string, evidence: string[] }[] }} Dialog */

export const title = "which fact of a person a search shows";

const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
const DIALOGS = 5;
/** The characters of an answer that count. */
const MAX_CHARS = 3_000;
const FTS_FACTS = 20;

/**
 * People with their facts in the order of the sessions, and the questions whose evidence has facts.
 *
 * @param {Dialog} dialog
 */
function memoryOf({ observation, qa }, suffix = "") {
  /** @type {Entity[][]} */
  const sessions = [];
  /** @type {Map<string, string[]>} */
  const facts = new Map();
  /** @param {string | string[]} given */
  const idsOf = (given) => [given].flat().flatMap((text) => text.split(/[;,\s]+/));
  for (const session of Object.values(observation)) {
    const people = Object.entries(session).map(([name, told]) => {
      for (const [text, evidence] of told)
        for (const id of idsOf(evidence)) facts.set(id, [...(facts.get(id) ?? []), text]);
      return {
        name: `${name}${suffix}`,
        entityType: "person",
        observations: [...new Set(told.map(([text]) => text))],
      };
    });
    sessions.push(people);
  }
  const questions = qa.map(({ question, evidence }) => ({
    query: question,
    gold: idsOf(evidence).flatMap((id) => facts.get(id) ?? []),
  }));
  return { sessions, questions: questions.filter(({ gold }) => gold.length > 0) };
}

/** @param {string} file */
async function server(file) {
  const client = new RawClient([process.execPath, BIN, "--file", file]);
  await client.initialize();
  return {
    add: (/** @type {Entity[]} */ entities) =>
      client.call("create_entities", { entities, on_conflict: "merge" }),
    answer: async (/** @type {string} */ query) =>
      JSON.stringify((await client.call("search_nodes", { query })).structuredContent),
    close: () => client.close(),
  };
}

/** One FTS5 row for each fact, any word, bm25(), the best 20. */
function plain() {
  const Sqlite = createRequire(import.meta.url)("better-sqlite3");
  const db = new Sqlite(":memory:");
  db.exec("CREATE VIRTUAL TABLE t USING fts5 (content)");
  const insert = db.prepare("INSERT INTO t VALUES (?)");
  const select = db.prepare("SELECT content FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?").pluck();
  return {
    add: async (/** @type {Entity[]} */ entities) => {
      for (const { observations } of entities) for (const fact of observations) insert.run(fact);
    },
    answer: async (/** @type {string} */ query) => {
      const words = query.match(/[\p{L}\p{N}]+/gu) ?? [];
      return JSON.stringify(select.all(words.map((word) => `"${word}"`).join(" OR "), FTS_FACTS));
    },
    close: async () => db.close(),
  };
}

/**
 * @param {{ report: import("../../../scripts/lib/bench-kit.mjs").Report, path?: string | undefined }} harness
 * @returns the reason if the data is missing
 */
export async function bench({ report, path = dataPath() }) {
  if (path === undefined || !existsSync(path))
    return `LoCoMo is missing${path === undefined ? "" : ` at ${path}`}: see the first lines of servers/memory/bench/locomo.mjs`;
  /** @type {Dialog[]} */
  const dialogs = JSON.parse(await readFile(path, "utf8")).slice(0, DIALOGS);
  // One name is in two dialogs.
  const all = dialogs.map((dialog, index) => memoryOf(dialog, ` ${"ABCDE"[index]}`));
  const corpora = {
    "a memory for each dialog, two people": dialogs.map((dialog) => memoryOf(dialog)),
    "one memory, ten people": [
      {
        sessions: all.flatMap(({ sessions }) => sessions),
        questions: all.flatMap(({ questions }) => questions),
      },
    ],
  };
  const folder = await mkdtemp(join(tmpdir(), "refmcp-bench-locomo-"));
  /** @type {string[][]} */
  const rows = [];
  try {
    for (const [name, memories] of Object.entries(corpora)) {
      /** @type {string[]} */
      const row = [];
      for (const who of ["fts5", "here"]) {
        let [asked, shown, characters] = [0, 0, 0];
        for (const [index, { sessions, questions }] of memories.entries()) {
          const memory = who === "fts5" ? plain() : await server(join(folder, `${rows.length} ${index}.db`));
          for (const people of sessions) await memory.add(people);
          for (const { query, gold } of questions) {
            const answer = await memory.answer(query);
            const counted = answer.slice(0, MAX_CHARS);
            asked += 1;
            characters += answer.length;
            if (gold.some((fact) => counted.includes(JSON.stringify(fact)))) shown += 1;
          }
          await memory.close();
        }
        const share = `${((100 * shown) / asked).toFixed(1)} %`;
        row[0] = `${name} (${asked})`;
        row.push(share, Math.round(characters / asked).toLocaleString("en-US"));
      }
      rows.push(row);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  report({
    title: `A fact that answers is in the first ${MAX_CHARS.toLocaleString("en-US")} characters of the answer`,
    columns: ["questions", "plain FTS5 over facts", "characters", "here", "characters"],
    rows,
    notes: [
      `LoCoMo, dialogs 0 to 4, measured on ${new Date().toISOString().slice(0, 10)}: the observations of each session are added in one call, and the question is the query. Questions whose evidence has no observation are left out. FTS5 returns the best ${FTS_FACTS} facts without the names of their people.`,
    ],
  });
  return undefined;
}

function dataPath() {
  const corpora = process.env.REFMCP_CORPORA ?? "";
  if (corpora === "") return undefined;
  const places = ["locomo", "MemInsight"].map((clone) => join(corpora, clone, "data", "locomo10.json"));
  return places.find((place) => existsSync(place)) ?? places[0];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const skipped = await bench({
    path: process.argv[2] ?? dataPath(),
    report: ({ title: name, columns, rows, notes }) =>
      process.stdout.write(
        `\n${name}\n${[columns, ...rows].map((row) => row.join(" | ")).join("\n")}\n${notes?.map((note) => `${note}\n`).join("")}`,
      ),
  });
  if (skipped !== undefined) process.stderr.write(`Skipped: ${skipped}.\n`);
}
