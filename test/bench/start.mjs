// Spawn to the first answer, and idle memory.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  figure,
  inTurn,
  mainThreadTime,
  median,
  minimum,
  peers,
  RawClient,
  ratio,
} from "../../scripts/lib/bench-kit.mjs";
import { ROOT, serverNames } from "../../scripts/lib/setup.mjs";

/** @typedef {import("../../scripts/lib/bench-kit.mjs").Report} Report */
/** @typedef {Record<string, string[]>} Commands */

export const title = "start and memory";

const OFFICIAL = { "@modelcontextprotocol/server-filesystem": "2026.8.31" };

/** @param {{ report: Report }} harness */
export async function bench({ report }) {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-bench-"));
  try {
    const official = (await peers(OFFICIAL))(
      "@modelcontextprotocol/server-filesystem/dist/index.js",
    );
    const servers = serverNames();
    /** @type {Commands} */
    const commands = {
      "bare loop": [process.execPath, join(ROOT, "test", "bench", "lib", "loop.mjs")],
      "official filesystem": [process.execPath, official, folder],
      ...Object.fromEntries(
        servers.map((name) => [
          name,
          [process.execPath, join(ROOT, "servers", name, "dist", "bin.js")],
        ]),
      ),
    };
    await starts(report, commands);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param {Report} report @param {Commands} commands */
async function starts(report, commands) {
  /** @type {Record<string, number>} */
  const memory = {};
  /** @type {Record<string, number[]>} */
  const main = {};
  const durations = await inTurn(
    15,
    Object.fromEntries(
      Object.entries(commands).map(([name, argv]) => [
        name,
        async () => {
          const client = new RawClient(argv);
          const took = await client.initialize();
          main[name] = [...(main[name] ?? []), await mainThreadTime(client.child.pid)];
          memory[name] = (await client.memory()).now;
          await client.close();
          return took;
        },
      ]),
    ),
    2,
  );
  const loop = median(durations["bare loop"]);
  const official = median(durations["official filesystem"]);
  const cost = Object.fromEntries(
    Object.entries(main).map(([name, list]) => [name, median(list.sort((a, b) => a - b))]),
  );
  report({
    title: `Spawn to first answer, and memory after it, Node.js ${process.versions.node}`,
    columns: [
      "",
      "minimum ms",
      "median ms",
      "of the bare loop",
      "of the official server",
      "main thread ms",
      "of the bare loop's",
      "RSS MB",
    ],
    rows: Object.entries(durations).map(([name, list]) => [
      name,
      figure(minimum(list)),
      figure(median(list)),
      ratio(median(list) / loop),
      ratio(median(list) / official),
      figure(cost[name]),
      ratio((cost[name] ?? Number.NaN) / (cost["bare loop"] ?? Number.NaN)),
      figure(memory[name]),
    ]),
    notes: [
      "Goals: at most 2.4x the bare loop and 0.36x the official server, 1.5x of the bare loop's main thread, 52 MB. A start lists its tools from what was written down at build, and loads them with the first call.",
    ],
  });
}
