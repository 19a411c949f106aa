// Measures whether a search finds the fact that answers a question about people with 80 to 170 facts. LoCoMo (Maharana and others, 2024), dialogs 0 to 4; the other five are left alone, so that they can judge later. The
// data is not part of this repository; it is data/locomo10.json in clones of snap-research/locomo or amazon-science/MemInsight:
//   node servers/memory/bench/locomo.mjs PATH/locomo10.json
//   REFMCP_CORPORA=FOLDER pnpm bench memory      (with FOLDER/locomo or FOLDER/MemInsight)
// REALTALK (Lee and others, 2025), ten chats of real people, is measured as well if FOLDER/REALTALK is a clone of
// danny911kr/REALTALK: chats 1 to 5; the others are left alone, too.
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { peers, RawClient } from "../../../scripts/lib/bench-kit.mjs";

/** @typedef {{ name: string, entityType: string, observations: string[] }} Entity */
/** @typedef {{ observation: Record<string, Record<string, [text: string, evidence: string | string[]][]>>, qa: { question: string, evidence: string[] }[] }} Dialog */
/** @typedef {{ sessions: Entity[][], questions: { query: string, gold: string[] }[] }} Corpus */
/** @typedef {{ add(entities: Entity[]): Promise<unknown>, answer(query: string): Promise<{ json: string, entities: Entity[] }>, close(): Promise<unknown> }} Searched */

export const title = "which facts a search finds";

const PEERS = { "@modelcontextprotocol/server-memory": "2026.8.31", minisearch: "7.2.0" };

const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
const DIALOGS = 5;
/** The characters of an answer that count. */
const MAX_CHARS = 2_100;
const FIRST = 5;
/** The characters of JSON that the other searches fill. */
const FILLED = 2_000;
const CANDIDATES = 300;
const STOP_WORDS = new Set(
  "a about an and any are as at be been being but by can could did do does for from had has have he her hers him his how i if in into is it its me my of on or our ours she should so than that the their them then there these they this those to us was we were what when where which who whom whose why will with would you your yours".split(
    " ",
  ),
);

/** @param {string | string[]} ids */
const idsOf = (ids) => [ids].flat().flatMap((text) => text.split(/[;,\s]+/));

/**
 * People with their facts in the order of the sessions, and the questions whose evidence has facts.
 *
 * @param {Dialog} dialog
 * @returns {Corpus}
 */
function memoryOf({ observation, qa }, suffix = "", isNamed = true) {
  /** @type {Entity[][]} */
  const sessions = [];
  /** @type {Map<string, string[]>} */
  const facts = new Map();
  for (const session of Object.values(observation)) {
    const people = Object.entries(session).map(([name, observations]) => {
      /** @type {[string, string | string[]][]} */
      const statements = observations.map(([text, evidence]) => [
        isNamed || !text.startsWith(`${name} `) ? text : text.slice(name.length + 1),
        evidence,
      ]);
      for (const [text, evidence] of statements)
        for (const id of idsOf(evidence)) facts.set(id, [...(facts.get(id) ?? []), text]);
      return {
        name: `${name}${suffix}`,
        entityType: "person",
        observations: [...new Set(statements.map(([text]) => text))],
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

/** The official server looks for the whole question as a substring. @param {string} script @param {string} file @returns {Promise<Searched>} */
async function officialServer(script, file) {
  const client = new RawClient([process.execPath, script], {
    env: { ...process.env, MEMORY_FILE_PATH: file },
  });
  await client.initialize();
  return {
    add: async (entities) => {
      const bare = entities.map((entity) => ({ ...entity, observations: [] }));
      await client.call("create_entities", { entities: bare });
      const observations = entities.map(({ name, observations }) => ({
        entityName: name,
        contents: observations,
      }));
      await client.call("add_observations", { observations });
    },
    answer: async (query) => {
      const { structuredContent } = await client.call("search_nodes", { query });
      return { json: JSON.stringify(structuredContent), entities: structuredContent["entities"] };
    },
    close: () => client.close(),
  };
}

/** @param {string} text */
const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];

/**
 * The best facts that fit into the characters, as a list of JSON.
 *
 * @param {{ content: string }[]} rows
 */
function filled(rows) {
  let charsLeft = FILLED;
  const facts = rows.filter(({ content }) => {
    const size = JSON.stringify(content).length + 1;
    if (size > charsLeft) return false;
    charsLeft -= size;
    return true;
  });
  const entities = facts.map(({ content }) => ({
    name: "",
    entityType: "",
    observations: [content],
  }));
  return { json: JSON.stringify(facts.map(({ content }) => content)), entities };
}

/**
 * FTS5 in a few lines: one row for each fact, stemmed, without stop words, bm25(), the newer of equal ones; a fact of someone
 * whom the question names counts as if it were better by a share of the best score, and gets a share of a neighbor's score.
 * With `isOnly`, only facts of those named are returned.
 *
 * @param {{ isOnly?: boolean }} options
 * @returns {Searched}
 */
function fts({ isOnly = false } = {}) {
  const SHARE = 0.3;
  const Sqlite = createRequire(import.meta.url)("better-sqlite3");
  const db = new Sqlite(":memory:");
  db.exec(
    "CREATE VIRTUAL TABLE t USING fts5 (name UNINDEXED, content, tokenize = 'porter unicode61')",
  );
  const insert = db.prepare("INSERT INTO t VALUES (?, ?)");
  const select = db.prepare(
    "SELECT rowid AS id, name, content, -bm25(t) AS score FROM t WHERE t MATCH ? ORDER BY rank, rowid DESC LIMIT ?",
  );
  /** @type {Set<string>} */
  const names = new Set();
  return {
    add: async (entities) => {
      for (const { name, observations } of entities) {
        names.add(name);
        for (const fact of observations) insert.run(name, fact);
      }
    },
    answer: async (query) => {
      const asked = new Set(wordsOf(query));
      const words = [...asked].filter((word) => !STOP_WORDS.has(word));
      const named = [...names].filter((name) => wordsOf(name).every((word) => asked.has(word)));
      /** @type {{ id: number, name: string, content: string, score: number }[]} */
      const rows = select.all(words.map((word) => `"${word}"`).join(" OR ") || '"-"', CANDIDATES);
      const byId = new Map(rows.map((row) => [row.id, row]));
      const best = rows[0]?.score ?? 0;
      const scored = rows.map(({ id, name, content, score }) => {
        const near = [id - 1, id + 1].map((neighbor) => byId.get(neighbor));
        const nearby = Math.max(0, ...near.map((row) => (row?.name === name ? row.score : 0)));
        const bonus = named.includes(name) ? best : 0;
        return { id, name, content, score: score + SHARE * (nearby + bonus) };
      });
      const candidates = scored.filter(
        ({ name }) => !isOnly || named.length === 0 || named.includes(name),
      );
      return filled(candidates.sort((a, b) => b.score - a.score || b.id - a.id));
    },
    close: async () => db.close(),
  };
}

/**
 * MiniSearch with prefixes and typos.
 *
 * @param {any} MiniSearch
 * @returns {Searched}
 */
function miniSearch(MiniSearch) {
  const index = new MiniSearch({
    fields: ["content"],
    storeFields: ["content"],
    processTerm: (/** @type {string} */ term) =>
      STOP_WORDS.has(term.toLowerCase()) ? undefined : term.toLowerCase(),
    searchOptions: { prefix: true, fuzzy: 0.2 },
  });
  let id = 0;
  return {
    add: async (entities) => {
      for (const { observations } of entities)
        for (const content of observations) index.add({ id: id++, content });
    },
    answer: async (query) => filled(index.search(query)),
    close: async () => undefined,
  };
}

/**
 * The answers to all questions of some memories.
 *
 * @param {Corpus[]} corpora
 * @param {(index: number) => Promise<Searched> | Searched} open
 */
async function answers(corpora, open) {
  const results = [];
  for (const [index, { sessions, questions }] of corpora.entries()) {
    const memory = await open(index);
    for (const entities of sessions) await memory.add(entities);
    for (const { query, gold } of questions)
      results.push({ gold, ...(await memory.answer(query)) });
    await memory.close();
  }
  return results;
}

/** @param {Entity[]} entities */
const factsIn = (entities) => entities.flatMap(({ observations }) => observations ?? []);

/** Whether a text is one of these facts, or a part of a long one with `…` around it. @param {string} text @param {string[]} gold */
const isOf = (text, gold) => gold.some((fact) => fact.includes(text.replace(/^…|…$/g, "")));

/** @param {Awaited<ReturnType<typeof answers>>} results @param {(result: (typeof results)[number], at: number) => boolean} isHit */
const share = (results, isHit) =>
  `${((100 * results.filter(isHit).length) / results.length).toFixed(1)} %`;

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
    "LoCoMo, a memory for each dialog": dialogs.map((dialog) => memoryOf(dialog)),
    "LoCoMo, without the leading names": dialogs.map((dialog) => memoryOf(dialog, "", false)),
    "LoCoMo, ten people in one memory": [
      {
        sessions: all.flatMap(({ sessions }) => sessions),
        questions: all.flatMap(({ questions }) => questions),
      },
    ],
    "REALTALK, a memory for each chat": await realChats(),
  };
  const folder = await mkdtemp(join(tmpdir(), "refmcp-bench-locomo-"));
  const modules = await peers(PEERS);
  const { default: MiniSearch } = await import(modules("minisearch/dist/es/index.js"));
  const rows = [];
  try {
    for (const [name, corpora] of Object.entries(people)) {
      if (corpora.length === 0) continue;
      const ways = {
        FTS5: () => fts(),
        "FTS5, only of those named": () => fts({ isOnly: true }),
        MiniSearch: () => miniSearch(MiniSearch),
        official: (/** @type {number} */ index) => {
          const script = modules("@modelcontextprotocol/server-memory/dist/index.js");
          return officialServer(script, join(folder, `${name} ${index}.jsonl`));
        },
        here: (/** @type {number} */ index) => server(join(folder, `${name} ${index}.db`)),
      };
      for (const [way, open] of Object.entries(ways)) {
        const results = await answers(corpora, open);
        const factsByResult = results.map(({ json, entities }) =>
          factsIn(entities).filter((text) =>
            json.slice(0, MAX_CHARS).includes(JSON.stringify(text)),
          ),
        );
        const characters = results.reduce((sum, { json }) => sum + json.length, 0);
        const ofFacts = factsByResult.flat().reduce((sum, text) => sum + text.length, 0);
        rows.push([
          `${name} (${results.length})`,
          way,
          share(results, (_, at) =>
            (factsByResult[at] ?? []).some((text) => isOf(text, results[at]?.gold ?? [])),
          ),
          share(results, ({ gold, entities }) =>
            factsIn(entities)
              .slice(0, FIRST)
              .some((text) => isOf(text, gold)),
          ),
          Math.round(characters / results.length).toLocaleString("en-US"),
          `${Math.round((100 * ofFacts) / characters)} %`,
        ]);
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const measured = `LoCoMo, dialogs 0 to 4, measured on ${new Date().toISOString().slice(0, 10)}`;
  report({
    title: `A fact that answers is in the answer / among its first ${FIRST} facts / characters of the answer / share of facts in them`,
    columns: ["questions", "search", "shown", `first ${FIRST}`, "characters", "facts"],
    rows,
    notes: [
      `${measured}: the observations of each session are added in one call, and the question is the query. Questions whose evidence has no observation are left out; of an answer, ${MAX_CHARS.toLocaleString("en-US")} characters count. The others return facts without the names of their people, the best that fit into ${FILLED.toLocaleString("en-US")} characters; here they are grouped by person. The official server finds none of these questions, because it looks for the whole question as a substring. In REALTALK (chats 1 to 5), each message is a fact of its sender.`,
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
