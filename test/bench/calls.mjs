// What core costs: a call next to a bare loop and to the same server on the official SDK, in its first calls and when warm,
// and from the start to the hundredth answer.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
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
import { ROOT } from "../../scripts/lib/setup.mjs";

/** @typedef {import("../../scripts/lib/bench-kit.mjs").Report} Report */

export const title = "a call through core";

const OFFICIAL = { "@modelcontextprotocol/server-filesystem": "2026.8.31" };
const LIB = join(ROOT, "test", "bench", "lib");
const FIRST = 500;
const WARM_UP = 20_000;
const MEASURED = 40_000;

/** @param {{ report: Report }} harness */
export async function bench({ report }) {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-bench-"));
  try {
    await calls(report, folder);
    await hundred(report, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param {Report} report @param {string} folder */
async function calls(report, folder) {
  /** @param {string} entry */
  const bundled = async (entry) => {
    const outfile = join(folder, entry);
    await build({
      entryPoints: [join(LIB, entry)],
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      banner: {
        js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
      },
    });
    return outfile;
  };
  /** @type {Record<string, string>} */
  const programs = {
    "bare loop": join(LIB, "loop.mjs"),
    core: await bundled("echo-ours.mjs"),
    "SDK v2": await bundled("echo-sdk.mjs"),
  };
  /** @type {Record<string, { first: number[], warm: number[] }>} */
  const cost = Object.fromEntries(
    Object.keys(programs).map((name) => [name, { first: [], warm: [] }]),
  );
  await inTurn(
    7,
    Object.fromEntries(
      Object.entries(programs).map(([name, program]) => [
        name,
        async () => {
          const client = new RawClient([process.execPath, program]);
          await client.initialize();
          const started = await mainThreadTime(client.child.pid);
          await client.inLanes(FIRST, "echo", { text: "ok" });
          const early = await mainThreadTime(client.child.pid);
          await client.inLanes(WARM_UP, "echo", { text: "ok" });
          const before = await mainThreadTime(client.child.pid);
          await client.inLanes(MEASURED, "echo", { text: "ok" });
          const after = await mainThreadTime(client.child.pid);
          await client.close();
          cost[name]?.first.push(((early - started) * 1000) / FIRST);
          cost[name]?.warm.push(((after - before) * 1000) / MEASURED);
        },
      ]),
    ),
    0,
  );
  /** @type {(name: string, when: "first" | "warm") => number} */
  const of = (name, when) => median(cost[name]?.[when].sort((a, b) => a - b));
  report({
    title: `µs of the main thread a call over stdio, 64 in flight`,
    columns: [
      "",
      `first ${FIRST}`,
      "of the bare loop's",
      "of SDK v2's",
      "warm",
      "of the bare loop's",
      "of SDK v2's",
    ],
    rows: Object.keys(programs).map((name) => [
      name,
      figure(of(name, "first")),
      ratio(of(name, "first") / of("bare loop", "first")),
      ratio(of(name, "first") / of("SDK v2", "first")),
      figure(of(name, "warm")),
      ratio(of(name, "warm") / of("bare loop", "warm")),
      ratio(of(name, "warm") / of("SDK v2", "warm")),
    ]),
    notes: [
      "Goals: warm at most 1.4x the bare loop and 0.29x SDK v2, in the first calls 2.0x and 0.19x.",
    ],
  });
}

/** @param {Report} report @param {string} folder */
async function hundred(report, folder) {
  const file = join(folder, "small.txt");
  await writeFile(file, "one line\n");
  const official = (await peers(OFFICIAL))("@modelcontextprotocol/server-filesystem/dist/index.js");
  const programs = {
    "official filesystem": official,
    "ours: filesystem": join(ROOT, "servers", "filesystem", "dist", "bin.js"),
  };
  /** @type {Record<string, number[]>} */
  const spent = {};
  await inTurn(
    15,
    Object.fromEntries(
      Object.entries(programs).map(([name, program]) => [
        name,
        async () => {
          const client = new RawClient([process.execPath, program, folder]);
          await client.initialize();
          await client.inLanes(100, "read_text_file", { path: file }, 1);
          spent[name] = [...(spent[name] ?? []), await client.cpu()];
          await client.close();
        },
      ]),
    ),
  );
  /** @param {string} name */
  const of = (name) => median(spent[name]?.sort((a, b) => a - b));
  report({
    title: "From the start to the hundredth answer of read_text_file, processor time",
    columns: ["", "minimum ms", "median ms", "of the official server's"],
    rows: Object.keys(programs).map((name) => [
      name,
      figure(minimum(spent[name])),
      figure(of(name)),
      ratio(of(name) / of("official filesystem")),
    ]),
    notes: ["Goal: at most 0.55x the official server."],
  });
}
