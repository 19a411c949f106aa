// What 40 questions about three public databases cost a model: calls, characters and wrong first tries, next to DBHub, Google's
// MCP Toolbox and the official server. A scripted reader stands in for the model: it reads the whole schema once, and where
// nothing that it read shows how a value is written, it tries the obvious form first.
//
//   REFMCP_CORPORA=FOLDER pnpm bench postgres   (with clones of lerocha/chinook-database, jOOQ/sakila and
//   pthom/northwind_psql in FOLDER, and psql in the PATH)
import { existsSync } from "node:fs";
import { join } from "node:path";
import { command, peers, RawClient, sqlPeer } from "../../../scripts/lib/bench-kit.mjs";
import { ROOT } from "../../../scripts/lib/setup.mjs";
import { QUESTIONS } from "./lib/questions.mjs";
import { testPostgres } from "./lib/test-postgres.mjs";

/** @typedef {import("../../../scripts/lib/bench-kit.mjs").Report} Report */
/** @typedef {import("./lib/questions.mjs").Question} Question */
/** @typedef {keyof typeof QUESTIONS} Name */
/** @typedef {"dbhub" | "toolbox" | "official" | "ours"} Who */

export const title = "40 questions about three databases, by calls and characters";

const OFFICIAL = "0.6.2";
const TOOLBOX = "1.12.0";
const BIN = join(ROOT, "servers", "postgres", "dist", "bin.js");

/** The SQL files of each database, in FOLDER. @type {Record<Name, string[]>} */
const FILES = {
  chinook: ["chinook-database/ChinookDatabase/DataSources/Chinook_PostgreSql.sql"],
  sakila: ["schema", "insert-data-using-copy"].map(
    (part) => `sakila/postgres-sakila-db/postgres-sakila-${part}.sql`,
  ),
  northwind: ["northwind_psql/northwind.sql"],
};

/** @param {{ report: Report }} harness */
export async function bench({ report }) {
  const corpora = process.env.REFMCP_CORPORA ?? "";
  const missing = Object.values(FILES)
    .flat()
    .find((file) => !existsSync(join(corpora, file)));
  if (corpora === "" || missing !== undefined) return `REFMCP_CORPORA has no ${missing}`;
  const { startPostgres } = await testPostgres();
  const postgres = await startPostgres();
  try {
    /** @type {Record<Who, Record<Name, Cost>>} */
    const costs = { dbhub: none(), toolbox: none(), official: none(), ours: none() };
    for (const name of /** @type {Name[]} */ (Object.keys(FILES))) {
      const url = await postgres.createDatabase();
      for (const file of FILES[name]) {
        // Chinook's file creates its own database.
        const { href } = Object.assign(
          new URL(url),
          name === "chinook" ? { pathname: "/postgres" } : {},
        );
        await command("psql", ["-q", "-d", href, "-f", join(corpora, file)]);
      }
      const used =
        name === "chinook" ? Object.assign(new URL(url), { pathname: "/chinook" }).href : url;
      await command("psql", ["-q", "-d", used, "-c", "ANALYZE"]);
      for (const [who, reader] of Object.entries(await readers(used))) {
        const cost = costs[/** @type {Who} */ (who)][name];
        await reader.open();
        for (const text of await reader.schema()) cost.read(text);
        for (const question of QUESTIONS[name]) await answer(question, reader, cost);
        await reader.close();
      }
    }
    publish(report, costs);
    return undefined;
  } finally {
    await postgres.stop();
  }
}

/** Asks as a model does that writes what it has seen, or else what is most likely. */
class Cost {
  calls = 0;
  characters = 0;
  wrong = 0;
  failed = 0;
  seen = "";

  /** @param {string} text */
  read(text) {
    this.calls += 1;
    this.characters += text.length;
    this.seen += text;
  }
}

const none = () => ({ chinook: new Cost(), sakila: new Cost(), northwind: new Cost() });

/** @param {string} fact */
const word = (fact) =>
  new RegExp(`(?<!\\w)${fact.replaceAll("'", "").replace(/[/]/g, "\\$&")}(?!\\w)`);

/** @param {Question} question @param {Reader} reader @param {Cost} cost */
async function answer({ sql, answer, unknown }, reader, cost) {
  const knows = () => unknown === undefined || word(unknown.fact).test(cost.seen);
  if (unknown !== undefined && !knows()) {
    cost.wrong += 1;
    cost.read(await reader.query(unknown.naive));
    if (!knows()) cost.read(await reader.query(unknown.lookup));
  }
  const text = await reader.query(sql);
  cost.read(text);
  const isRight = typeof answer === "string" ? text.includes(answer) : answer.test(text);
  if (!isRight) cost.failed += 1;
}

/**
 * @typedef {object} Reader
 * @property {() => Promise<unknown>} open
 * @property {() => Promise<string[]>} schema what a model reads to know all tables, one text for each call
 * @property {(sql: string) => Promise<string>} query the text of the answer or of the error
 * @property {() => Promise<unknown>} close
 */

/** @param {string} url @returns {Promise<Record<Who, Reader>>} */
async function readers(url) {
  const package_ = await peers({
    "@modelcontextprotocol/server-postgres": OFFICIAL,
    "@toolbox-sdk/server": TOOLBOX,
  });
  const dbhub = await sqlPeer();
  const { hostname, port, pathname, username, password } = new URL(url);
  const env = {
    ...process.env,
    POSTGRES_HOST: hostname,
    POSTGRES_PORT: port,
    POSTGRES_DATABASE: pathname.slice(1),
    POSTGRES_USER: decodeURIComponent(username),
    POSTGRES_PASSWORD: decodeURIComponent(password) || "none",
  };
  const toolbox = [
    process.execPath,
    package_("@toolbox-sdk/server/bin/run.js"),
    "--prebuilt",
    "postgres",
    "--stdio",
  ];
  /** @param {string[]} argv @param {string} tool @param {(client: RawClient) => Promise<string[]>} schema */
  const reader = (argv, tool, schema, options = {}) => {
    const client = new RawClient(argv, options);
    return {
      open: () => client.initialize(),
      schema: () => schema(client),
      /** @param {string} sql */
      query: async (sql) => {
        const sent = JSON.stringify({ sql });
        return (
          sent +
          textOf(
            await client.request("tools/call", { name: tool, arguments: { sql } }).catch(String),
          )
        );
      },
      close: () => client.close(),
    };
  };
  return {
    dbhub: reader(dbhub.dbhub(url), "execute_sql", async (client) => [
      textOf(await client.call("search_objects", { object_type: "table", detail_level: "full" })),
    ]),
    toolbox: reader(
      toolbox,
      "execute_sql",
      async (client) => [textOf(await client.call("list_tables", { table_names: "" }))],
      { env },
    ),
    official: reader(
      [process.execPath, package_("@modelcontextprotocol/server-postgres/dist/index.js"), url],
      "query",
      async (client) => {
        const { resources } = await client.request("resources/list");
        const texts = [JSON.stringify(resources)];
        for (const { uri } of resources)
          texts.push((await client.request("resources/read", { uri })).contents[0].text);
        return texts;
      },
    ),
    ours: reader(
      [process.execPath, BIN, "--url", url, "--allow-privileged-role"],
      "query",
      async (client) => {
        const texts = [];
        let cursor;
        do {
          const result = await client.call(
            "pg_describe_tables",
            cursor === undefined ? {} : { cursor },
          );
          texts.push(textOf(result));
          cursor = result.structuredContent["next_cursor"];
        } while (cursor !== undefined);
        return texts;
      },
    ),
  };
}

/** @param {string | { content: { text?: string }[] }} result */
const textOf = (result) =>
  typeof result === "string" ? result : result.content.map(({ text = "" }) => text).join("\n");

/** @param {Report} report @param {Record<Who, Record<Name, Cost>>} costs */
function publish(report, costs) {
  const order = /** @type {const} */ (["official", "toolbox", "dbhub", "ours"]);
  const names = /** @type {Name[]} */ (Object.keys(FILES));
  const all = Object.values(QUESTIONS).flat();
  /** @param {(cost: Cost) => number} value */
  const line = (value) =>
    order.map((who) =>
      names.reduce((sum, name) => sum + value(costs[who][name]), 0).toLocaleString("en-US"),
    );
  report({
    title: "What a model reads and how often it errs",
    columns: ["", `official ${OFFICIAL}`, `MCP Toolbox ${TOOLBOX}`, "DBHub 1.4.0", "ours"],
    rows: [
      ["calls", ...line(({ calls }) => calls)],
      ["characters of calls and answers", ...line(({ characters }) => characters)],
      ["wrong first tries", ...line(({ wrong }) => wrong)],
      ["questions not answered", ...line(({ failed }) => failed)],
    ],
    notes: [
      `Chinook, Sakila and Northwind; each server's whole schema is read once, then ${all.length} questions are asked. ${all.filter(({ unknown }) => unknown !== undefined).length} of them need a value exactly as in the data ('NC-17', 'USA'): a reader that has not seen it tries the obvious form, gets an error or no rows, and looks the value up.`,
      "Ours answers with at most 200 rows and a cursor; one question asks for 408 rows.",
    ],
  });
}
