// Measures whether a search finds what answers a question: a fact about people with 80 to 170 facts, and a turn of a conversation
// of months. LoCoMo (Maharana and others, 2024), dialogs 0 to 4; the other five are left alone, so that they can judge later. The
// data is not part of this repository; it is data/locomo10.json in clones of snap-research/locomo or amazon-science/MemInsight:
//   node servers/memory/bench/locomo.mjs PATH/locomo10.json
//   REFMCP_CORPORA=FOLDER pnpm bench memory      (with FOLDER/locomo or FOLDER/MemInsight)
// The ranking was tuned on these dialogs, but never on REALTALK (Lee and others, 2025), ten chats of real people. It is measured
// as well if FOLDER/REALTALK is a clone of danny911kr/REALTALK: chats 1 to 5; the others are left alone, too.
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RawClient } from "../../../scripts/lib/bench-kit.mjs";

/** @typedef {{ name: string, entityType: string, observations: string[] }} Entity */
/** @typedef {{ dia_id: string, speaker: string, text: string, blip_caption?: string }} Turn */
/** @typedef {{ observation: Record<string, Record<string, [text: string, evidence: string | string[]][]>>, conversation: Record<string, string | Turn[]>, qa: { question: string, evidence: string[], category: number }[] }} Dialog */
/** @typedef {{ sessions: Entity[][], questions: { query: string, gold: string[] }[] }} Corpus */
/** @typedef {{ add(entities: Entity[]): Promise<unknown>, answer(query: string): Promise<{ json: string, entities: Entity[] }>, close(): Promise<unknown> }} Searched */

export const title = "which facts and turns of a conversation a search finds";

const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
const DIALOGS = 5;
/** The characters of an answer that count. */
const MAX_CHARS = 3_000;
const FIRST = 5;
const FTS_ROWS = 20;
/** Questions without an answer in the conversation. */
const ADVERSARIAL = 5;

/** @param {string | string[]} given */
const idsOf = (given) => [given].flat().flatMap((text) => text.split(/[;,\s]+/));

/**
 * People with their facts in the order of the sessions, and the questions whose evidence has facts.
 *
 * @param {Dialog} dialog
 * @returns {Corpus}
 */
function memoryOf({ observation, qa }, suffix = "") {
  /** @type {Entity[][]} */
  const sessions = [];
  /** @type {Map<string, string[]>} */
  const facts = new Map();
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

/**
 * One entity for each turn, and the questions that have an answer.
 *
 * @param {Dialog} dialog
 * @returns {Corpus}
 */
function turnsOf({ conversation, qa }) {
  const sessions = Object.values(conversation).flatMap((turns) =>
    Array.isArray(turns)
      ? [
          turns.map(({ dia_id, speaker, text, blip_caption }) => ({
            name: dia_id,
            entityType: "turn",
            observations: [
              `${speaker}: ${text}${blip_caption === undefined ? "" : ` [${blip_caption}]`}`,
            ],
          })),
        ]
      : [],
  );
  const names = new Set(sessions.flat().map(({ name }) => name));
  const questions = qa
    .filter(({ category }) => category !== ADVERSARIAL)
    .map(({ question, evidence }) => ({
      query: question,
      gold: idsOf(evidence).filter((id) => names.has(id)),
    }));
  return { sessions, questions: questions.filter(({ gold }) => gold.length > 0) };
}

/**
 * Chats of REALTALK: two people, whose messages are their facts.
 *
 * @returns {Promise<Corpus[]>}
 */
async function realChats() {
  const folder = join(process.env.REFMCP_CORPORA ?? "", "REALTALK", "data");
  if (process.env.REFMCP_CORPORA === undefined || !existsSync(folder)) return [];
  const files = (await readdir(folder)).filter((name) => /^Chat_[1-5]_/.test(name)).sort();
  const chats = await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));
  return chats.map((text) => {
    /** @type {Record<string, any> & { qa: Dialog["qa"] }} */
    const chat = JSON.parse(text);
    /** @type {{ dia_id: string, speaker: string, clean_text: string }[][]} */
    const sessions = Object.keys(chat)
      .filter((key) => /^session_\d+$/.test(key))
      .map((key) => chat[key]);
    const texts = new Map(sessions.flat().map(({ dia_id, clean_text }) => [dia_id, clean_text]));
    return {
      sessions: sessions.map((turns) =>
        [...new Set(turns.map(({ speaker }) => speaker))].map((name) => ({
          name,
          entityType: "person",
          observations: turns.flatMap(({ speaker, clean_text }) =>
            speaker === name && clean_text !== "" ? [clean_text] : [],
          ),
        })),
      ),
      questions: chat.qa
        .map(({ question, evidence }) => ({
          query: question,
          gold: evidence.flatMap((id) => texts.get(id) || []),
        }))
        .filter(({ gold }) => gold.length > 0),
    };
  });
}

/** @param {string} file @returns {Promise<Searched>} */
async function server(file) {
  const client = new RawClient([process.execPath, BIN, "--file", file]);
  await client.initialize();
  return {
    add: (entities) => client.call("create_entities", { entities, on_conflict: "merge" }),
    answer: async (query) => {
      const { structuredContent } = await client.call("search_nodes", { query });
      return { json: JSON.stringify(structuredContent), entities: structuredContent["entities"] };
    },
    close: () => client.close(),
  };
}

/**
 * One FTS5 row for each fact, any word, bm25(), the best 20; with `neighbors` also a column of the facts before and after.
 *
 * @param {{ tokenize: string, neighbors?: boolean }} options
 * @returns {Searched}
 */
function plain({ tokenize, neighbors = false }) {
  const Sqlite = createRequire(import.meta.url)("better-sqlite3");
  const db = new Sqlite(":memory:");
  db.exec(
    `CREATE VIRTUAL TABLE t USING fts5 (name UNINDEXED, content, near, tokenize = '${tokenize}')`,
  );
  const insert = db.prepare("INSERT INTO t VALUES (?, ?, ?)");
  const select = db.prepare("SELECT name, content FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?");
  return {
    add: async (entities) => {
      const facts = entities.flatMap(({ name, observations }) =>
        observations.map((fact) => [name, fact]),
      );
      for (const [at, [name, fact]] of facts.entries())
        insert.run(
          name,
          fact,
          neighbors ? `${facts[at - 1]?.[1] ?? ""} ${facts[at + 1]?.[1] ?? ""}` : "",
        );
    },
    answer: async (query) => {
      const words = query.match(/[\p{L}\p{N}]+/gu) ?? [];
      const rows = select.all(words.map((word) => `"${word}"`).join(" OR "), FTS_ROWS);
      const entities = rows.map(
        (/** @type {{ name: string, content: string }} */ { name, content }) => ({
          name,
          entityType: "",
          observations: [content],
        }),
      );
      return {
        json: JSON.stringify(entities.map((/** @type {Entity} */ one) => one.observations[0])),
        entities,
      };
    },
    close: async () => db.close(),
  };
}

/**
 * The answers to all questions of some memories.
 *
 * @param {Corpus[]} corpora
 * @param {(index: number) => Promise<Searched> | Searched} open
 */
async function answers(corpora, open) {
  const found = [];
  for (const [index, { sessions, questions }] of corpora.entries()) {
    const memory = await open(index);
    for (const entities of sessions) await memory.add(entities);
    for (const { query, gold } of questions) found.push({ gold, ...(await memory.answer(query)) });
    await memory.close();
  }
  return found;
}

/** @param {Entity[]} entities */
const factsIn = (entities) => entities.flatMap(({ observations }) => observations ?? []);

/** Whether a text is one of these facts, or a part of a long one with `…` around it. @param {string} text @param {string[]} gold */
const isOf = (text, gold) => gold.some((fact) => fact.includes(text.replace(/^…|…$/g, "")));

/** @param {Awaited<ReturnType<typeof answers>>} found @param {(one: (typeof found)[number]) => boolean} isHit */
const share = (found, isHit) =>
  `${((100 * found.filter(isHit).length) / found.length).toFixed(1)} %`;

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
  const people = {
    "a memory for each dialog, two people": dialogs.map((dialog) => memoryOf(dialog)),
    "one memory, ten people": [
      {
        sessions: all.flatMap(({ sessions }) => sessions),
        questions: all.flatMap(({ questions }) => questions),
      },
    ],
    "REALTALK, a memory for each chat, two people": await realChats(),
  };
  const folder = await mkdtemp(join(tmpdir(), "refmcp-bench-locomo-"));
  /** @param {string} name */
  const here = (name) => (/** @type {number} */ index) =>
    server(join(folder, `${name} ${index}.db`));
  const facts = [];
  const turns = [];
  try {
    for (const [name, corpora] of Object.entries(people)) {
      if (corpora.length === 0) continue;
      const row = [name];
      for (const open of [() => plain({ tokenize: "unicode61" }), here(name)]) {
        const found = await answers(corpora, open);
        row[0] = `${name} (${found.length})`;
        row.push(
          share(found, ({ gold, json, entities }) =>
            factsIn(entities)
              .filter((text) => json.slice(0, MAX_CHARS).includes(JSON.stringify(text)))
              .some((text) => isOf(text, gold)),
          ),
          share(found, ({ gold, entities }) =>
            factsIn(entities)
              .slice(0, FIRST)
              .some((text) => isOf(text, gold)),
          ),
          Math.round(
            found.reduce((sum, { json }) => sum + json.length, 0) / found.length,
          ).toLocaleString("en-US"),
        );
      }
      facts.push(row);
    }
    const ways = {
      "FTS5, porter": () => plain({ tokenize: "porter" }),
      "FTS5, porter, with a column of the turns before and after": () =>
        plain({ tokenize: "porter", neighbors: true }),
      here: here("turns"),
    };
    for (const [name, open] of Object.entries(ways)) {
      const found = await answers(dialogs.map(turnsOf), open);
      /** @param {number} count */
      const within = (count) =>
        share(found, ({ gold, entities }) =>
          entities.slice(0, count).some((one) => gold.includes(one.name)),
        );
      turns.push([`${name} (${found.length})`, within(FIRST), within(2 * FIRST)]);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const measured = `LoCoMo, dialogs 0 to 4, measured on ${new Date().toISOString().slice(0, 10)}`;
  report({
    title: `A fact that answers is in the first ${MAX_CHARS.toLocaleString("en-US")} characters of the answer / among its first ${FIRST} facts / characters of the answer`,
    columns: [
      "questions",
      "plain FTS5 over facts",
      `first ${FIRST}`,
      "characters",
      "here",
      `first ${FIRST}`,
      "characters",
    ],
    rows: facts,
    notes: [
      `${measured}: the observations of each session are added in one call, and the question is the query. Questions whose evidence has no observation are left out. FTS5 returns the best ${FTS_ROWS} facts without the names of their people. The ranking was tuned on these dialogs, and never on REALTALK (chats 1 to 5, where each message is a fact of its sender).`,
    ],
  });
  report({
    title: `A turn that answers is among the first ${FIRST} / ${2 * FIRST} entities`,
    columns: ["search", `first ${FIRST}`, `first ${2 * FIRST}`],
    rows: turns,
    notes: [
      `${measured}: each turn is an entity of one fact, those of a session are added in one call; a memory for each dialog. Adversarial questions are left out.`,
    ],
  });
  return undefined;
}

function dataPath() {
  const corpora = process.env.REFMCP_CORPORA ?? "";
  if (corpora === "") return undefined;
  const places = ["locomo", "MemInsight"].map((clone) =>
    join(corpora, clone, "data", "locomo10.json"),
  );
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
