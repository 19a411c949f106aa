// What `refmcp`, the entry for all servers, costs: its start next to that of one server, a call through it next to the same
// call to the server itself, and how long a ping waits while one of the servers works.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  figure,
  inTurn,
  mainThreadTime,
  median,
  minimum,
  processorTime,
  RawClient,
  ratio,
} from "../../scripts/lib/bench-kit.mjs";
import { ROOT, serverNames } from "../../scripts/lib/setup.mjs";

/** @typedef {import("../../scripts/lib/bench-kit.mjs").Report} Report */

export const title = "one entry for all servers";

const ENTRY = [process.execPath, join(ROOT, "packages", "refmcp", "dist", "bin.js")];
/** @param {string} name */
const alone = (name) => [process.execPath, join(ROOT, "servers", name, "dist", "bin.js")];

const WARM_UP = 10_000;
const MEASURED = 10_000;

/** @param {{ report: Report }} harness */
export async function bench({ report }) {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-bench-"));
  try {
    await starts(report);
    await calls(report, folder);
    await pings(report, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param {Report} report */
async function starts(report) {
  /** @type {Record<string, number[]>} */
  const main = {};
  /** @type {Record<string, string[]>} */
  const commands = {
    refmcp: ENTRY,
    ...Object.fromEntries(serverNames().map((name) => [name, alone(name)])),
  };
  const durations = await inTurn(
    11,
    Object.fromEntries(
      Object.entries(commands).map(([name, argv]) => [
        name,
        async () => {
          const client = new RawClient(argv);
          await client.initialize();
          await client.request("tools/list");
          const took = performance.now() - client.started;
          main[name] = [...(main[name] ?? []), await mainThreadTime(client.child.pid)];
          await client.close();
          return took;
        },
      ]),
    ),
    2,
  );
  const least = Math.max(...serverNames().map((name) => median(durations[name])));
  const cost = Object.fromEntries(
    Object.entries(main).map(([name, list]) => [name, median(list.sort((a, b) => a - b))]),
  );
  const most = Math.max(...serverNames().map((name) => cost[name] ?? Number.NaN));
  report({
    title: "Spawn to the list of tools",
    columns: [
      "",
      "minimum ms",
      "median ms",
      "of the slowest server",
      "main thread ms",
      "of the slowest server's",
    ],
    rows: Object.entries(durations).map(([name, list]) => [
      name,
      figure(minimum(list)),
      figure(median(list)),
      ratio(median(list) / least),
      figure(cost[name]),
      ratio((cost[name] ?? Number.NaN) / most),
    ]),
    notes: ["Goal: at most 1.2x one server. Listing the tools of all servers loads none of them."],
  });
}

/** @param {Report} report @param {string} folder */
async function calls(report, folder) {
  const file = join(folder, "small.txt");
  await writeFile(file, "one line\n");
  /** @type {(argv: readonly string[], lanes: number) => () => Promise<number>} */
  const cost = (argv, lanes) => async () => {
    const client = new RawClient([...argv, folder]);
    await client.initialize();
    /** @param {number} total */
    const call = (total) => client.inLanes(total, "read_text_file", { path: file }, lanes);
    await call(WARM_UP);
    const before = await allTime(client.child.pid);
    await call(MEASURED);
    const used = (await allTime(client.child.pid)) - before;
    await client.close();
    return (used * 1000) / MEASURED;
  };
  for (const lanes of [64, 1]) {
    const cpuTimes = await inTurn(
      3,
      { direct: cost(alone("filesystem"), lanes), refmcp: cost(ENTRY, lanes) },
      0,
    );
    const direct = minimum(cpuTimes.direct);
    report({
      title: `Processor time of reading a line, ${lanes} in flight, after ${WARM_UP.toLocaleString("en-US")} calls`,
      columns: ["", "µs a call, in all processes of the server", "more than direct", "of direct"],
      rows: Object.entries(cpuTimes).map(([name, list]) => [
        name,
        figure(minimum(list)),
        figure(minimum(list) - direct),
        ratio(minimum(list) / direct),
      ]),
      notes: ["Goal: nothing more."],
    });
  }
}

const ENTITIES = 50_000;
const PING_EVERY_MS = 10;

/** @param {Report} report @param {string} folder */
async function pings(report, folder) {
  const file = join(folder, "graph.jsonl");
  const lines = Array.from({ length: ENTITIES }, (_, index) =>
    JSON.stringify({
      type: "entity",
      name: `Entity ${index}`,
      entityType: "thing",
      observations: [`has the number ${index}`],
    }),
  );
  await writeFile(file, `${lines.join("\n")}\n`);
  const client = new RawClient([
    ...ENTRY,
    folder,
    "--memory.file",
    join(folder, "memory.db"),
    "--memory.toolsets=all",
  ]);
  await client.initialize();
  await client.call("search_nodes", { query: "x" });
  let isDone = false;
  const begun = performance.now();
  const importing = client.call("import_graph", { path: file }).then(() => {
    isDone = true;
  });
  /** @type {number[]} */
  const waits = [];
  while (!isDone) {
    const sent = performance.now();
    await client.request("ping");
    waits.push(performance.now() - sent);
    await new Promise((resolve) => setTimeout(resolve, PING_EVERY_MS));
  }
  await importing;
  const took = performance.now() - begun;
  await client.close();
  report({
    title: `A ping while memory imports ${ENTITIES.toLocaleString("en-US")} entities in the same process`,
    columns: ["", "pings", "import ms", "median ms", "longest ms"],
    rows: [
      [
        "refmcp",
        figure(waits.length),
        figure(took),
        figure(median(waits.toSorted((a, b) => a - b))),
        figure(Math.max(...waits)),
      ],
    ],
    notes: ["Goal: at most 60 ms."],
  });
}

/** Processor time of a process and its children, in milliseconds. @param {number | undefined} pid */
async function allTime(pid) {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  const pids = [pid, ...children.split(" ").filter(Boolean).map(Number)];
  return (await Promise.all(pids.map(processorTime))).reduce((sum, time) => sum + time, 0);
}
