// Compares the memory server with the official one: filling, one write, searching, opening, reading and memory use, at 1,000,
// 10,000 and 50,000 entities with two observations each; ours alone at 500,000. Also runs on its own after a build:
// node servers/memory/bench/graph.mjs (with "small": only the small calls)
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  figure,
  inTurn,
  median,
  peers,
  RawClient,
  ratio,
} from "../../../scripts/lib/bench-kit.mjs";

/** @typedef {import("../../../scripts/lib/bench-kit.mjs").Report} Report */

export const title = "a knowledge graph of 1,000 to 500,000 entities";

const OFFICIAL = { "@modelcontextprotocol/server-memory": "2026.8.31" };
const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
const SIZES = [1_000, 10_000, 50_000];
const LARGE = 500_000;
const BATCH = 1_000;
const RUNS = 9;
const SMALL = 60;
/** Calls between two looks at the CPU time, which the system counts in steps of 10 ms. */
const CALLS = 200;
const TOPICS = [
  "gardens",
  "railways",
  "comets",
  "violins",
  "bridges",
  "lighthouses",
  "recipes",
  "glaciers",
];

/** The same graph for both: names and facts with rare words (the number) and common ones. @param {number} index */
const entity = (index) => ({
  name: `Person ${index}`,
  entityType: index % 10 === 0 ? "project" : "person",
  observations: [
    `writes about ${TOPICS[index % TOPICS.length]} since ${1900 + (index % 120)}`,
    `keeps record r${index}x of the society`,
  ],
});

/** @param {RawClient} client @param {number} size */
async function fill(client, size) {
  // Both have started and compiled what they need.
  await client.call("create_entities", {
    entities: [{ name: "warm", entityType: "t", observations: ["up"] }],
  });
  const started = performance.now();
  for (let at = 0; at < size; at += BATCH) {
    const entities = Array.from({ length: Math.min(BATCH, size - at) }, (_, offset) =>
      entity(at + offset),
    );
    await client.call("create_entities", { entities });
    const relations = entities.slice(0, 100).map(({ name }, offset) => ({
      from: name,
      to: entities[offset + 1]?.name ?? name,
      relationType: "knows",
    }));
    await client.call("create_relations", { relations });
  }
  return performance.now() - started;
}

/** The measurements on a filled graph, by row of the table. @param {RawClient} client @param {number} size */
function works(client, size) {
  let fresh = 0;
  const next = () => {
    fresh += 1;
    return `Fresh ${size} ${fresh}`;
  };
  const some = () => `Person ${(fresh * 7919) % size}`;
  return {
    "create one entity": () =>
      client.call("create_entities", {
        entities: [{ name: next(), entityType: "person", observations: ["is new"] }],
      }),
    "add one observation": () =>
      client.call("add_observations", {
        observations: [{ entityName: some(), contents: [`fact ${next()}`] }],
      }),
    "search, one match": () =>
      client.call("search_nodes", { query: `r${(fresh * 7919 + 13) % size}x` }),
    "search, an eighth matches": () => client.call("search_nodes", { query: "lighthouses" }),
    "search, a question": () =>
      client.call("search_nodes", { query: "Who writes about lighthouses since 1950?" }),
    "search, two letters without matches": () => client.call("search_nodes", { query: "zq" }),
    "a ping sent behind that search": () => pingBehind(client, { query: "zq" }),
    "open one by name": () => client.call("open_nodes", { names: [some()] }),
    read_graph: () => client.call("read_graph"),
  };
}

/**
 * Resolves with the milliseconds that a ping takes which is sent during a search.
 *
 * @param {RawClient} client @param {object} query
 */
async function pingBehind(client, query) {
  const search = client.call("search_nodes", query);
  const started = performance.now();
  await client.request("ping");
  const took = performance.now() - started;
  await search;
  return took;
}

/** @param {{ report: Report, part?: string | undefined }} harness */
export async function bench({ report, part }) {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-bench-memory-"));
  const official = (await peers(OFFICIAL))("@modelcontextprotocol/server-memory/dist/index.js");
  try {
    if (part === "small") return await smallCalls(report, folder, official);
    /** @type {{ size: number, theirs: number, ours: number }[]} */
    const writes = [];
    for (const size of SIZES)
      writes.push({ size, ...(await compare(report, folder, official, size)) });
    writes.push({ size: LARGE, ...(await alone(report, folder)) });
    await smallCalls(report, folder, official);
    report({
      title: "Cost of one write as the graph grows, ms",
      columns: ["entities", "official", "here"],
      rows: writes.map(({ size, theirs, ours }) => [
        size.toLocaleString("en-US"),
        figure(theirs),
        figure(ours),
      ]),
      notes: [
        "One create_entities call with one entity and one observation; here each is on the disk (fsync) when it is answered.",
      ],
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param {Report} report @param {string} folder @param {string} official @param {number} size */
async function compare(report, folder, official, size) {
  const theirs = new RawClient([process.execPath, official], {
    env: { ...process.env, MEMORY_FILE_PATH: join(folder, `official-${size}.jsonl`) },
  });
  const ours = new RawClient([process.execPath, BIN, "--file", join(folder, `ours-${size}.db`)]);
  await Promise.all([theirs.initialize(), ours.initialize()]);
  /** @type {string[][]} */
  const rows = [];
  /** @type {(work: string, a: number, b: number, unit?: string) => void} */
  const add = (work, a, b, unit = "ms") =>
    rows.push([`${work}, ${unit}`, figure(a), figure(b), ratio(b / a)]);
  const filled = { ours: await fill(ours, size), theirs: await fill(theirs, size) };
  add(`${size.toLocaleString("en-US")} creates, 1,000 a call`, filled.theirs, filled.ours);
  const [a, b] = [works(theirs, size), works(ours, size)];
  let write = { theirs: Number.NaN, ours: Number.NaN };
  for (const name of /** @type {(keyof typeof a)[]} */ (Object.keys(a))) {
    const durations = await inTurn(RUNS, { theirs: a[name], ours: b[name] });
    add(name, median(durations.theirs), median(durations.ours));
    if (name === "create one entity")
      write = { theirs: median(durations.theirs), ours: median(durations.ours) };
  }
  /** @param {RawClient} client */
  const answered = async (client) => {
    const before = client.bytes;
    await client.call("read_graph");
    return (client.bytes - before) / 1000;
  };
  add("answer of read_graph", await answered(theirs), await answered(ours), "kB");
  add("peak resident memory", (await theirs.memory()).peak, (await ours.memory()).peak, "MB");
  await Promise.all([theirs.close(), ours.close()]);
  report({
    title: `${size.toLocaleString("en-US")} entities, ${(size * 2).toLocaleString("en-US")} observations`,
    columns: ["work", "official", "here", "here / official"],
    rows,
  });
  return write;
}

/** Each call differs from the one before, except where it has no arguments. @param {RawClient} client */
function smallWorks(client) {
  let count = 0;
  const next = () => {
    count += 7;
    return count;
  };
  return {
    "search, one match": () => client.call("search_nodes", { query: `r${next() % SMALL}x` }),
    "search, a question": () =>
      client.call("search_nodes", {
        query: `Who writes about ${TOPICS[next() % TOPICS.length]} since ${1900 + (count % SMALL)}?`,
      }),
    "open one by name": () => client.call("open_nodes", { names: [`Person ${next() % SMALL}`] }),
    "read_graph, unchanged": () => client.call("read_graph"),
    "add one observation": () =>
      client.call("add_observations", {
        observations: [{ entityName: `Person ${next() % SMALL}`, contents: [`fact ${count}`] }],
      }),
  };
}

/**
 * CPU time of single calls on a memory of ordinary size, which a host waits for many times a day.
 *
 * @param {Report} report @param {string} folder @param {string} official
 */
async function smallCalls(report, folder, official) {
  const theirs = new RawClient([process.execPath, official], {
    env: { ...process.env, MEMORY_FILE_PATH: join(folder, "small.jsonl") },
  });
  const ours = new RawClient([process.execPath, BIN, "--file", join(folder, "small.db")]);
  await Promise.all([theirs.initialize(), ours.initialize()]);
  for (const client of [theirs, ours])
    await client.call("create_entities", {
      entities: Array.from({ length: SMALL }, (_, index) => entity(index)),
    });
  const both = [smallWorks(theirs), smallWorks(ours)];
  const rows = [];
  for (const name of /** @type {(keyof ReturnType<typeof smallWorks>)[]} */ (
    Object.keys(both[0] ?? {})
  )) {
    /** @type {number[][]} */
    const costs = [[], []];
    // In turns, so that both meet the same load of the machine.
    for (let round = 0; round <= RUNS; round++)
      for (const [index, client] of [theirs, ours].entries()) {
        const before = await client.cpu();
        for (let call = 0; call < CALLS; call++) await both[index]?.[name]();
        const cost = ((await client.cpu()) - before) / CALLS;
        if (round > 0) costs[index]?.push(cost * 1000);
      }
    const [a = Number.NaN, b = Number.NaN] = costs.map((values) =>
      median(values.sort((x, y) => x - y)),
    );
    rows.push([name, figure(a), figure(b), ratio(b / a)]);
  }
  await Promise.all([theirs.close(), ours.close()]);
  report({
    title: `${SMALL} entities: CPU time of one call, all threads, µs`,
    columns: ["call", "official", "here", "here / official"],
    rows,
  });
}

/** @param {Report} report @param {string} folder */
async function alone(report, folder) {
  const file = join(folder, "large.db");
  const client = new RawClient([process.execPath, BIN, "--file", file]);
  await client.initialize();
  const rows = [
    [
      `${LARGE.toLocaleString("en-US")} creates, 1,000 a call, ms`,
      figure(await fill(client, LARGE)),
    ],
  ];
  let ours = Number.NaN;
  for (const [name, work] of Object.entries(works(client, LARGE))) {
    const durations = await inTurn(RUNS, { ours: work });
    rows.push([`${name}, ms`, figure(median(durations.ours))]);
    if (name === "create one entity") ours = median(durations.ours);
  }
  rows.push(["peak resident memory, MB", figure((await client.memory()).peak)]);
  await client.close();
  rows.push(["size on the disk, MB", figure((await stat(file)).size / 1e6)]);
  report({
    title: `${LARGE.toLocaleString("en-US")} entities, ${(LARGE * 2).toLocaleString("en-US")} observations, here alone`,
    columns: ["work", "here"],
    rows,
  });
  return { theirs: Number.NaN, ours };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bench({
    part: process.argv[2],
    report: ({ title: name, columns, rows, notes = [] }) =>
      process.stdout.write(
        `\n${name}\n${[columns, ...rows].map((row) => row.join(" | ")).join("\n")}\n${notes.map((note) => `${note}\n`).join("")}`,
      ),
  });
}
