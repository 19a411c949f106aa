// Spawn to first answer, idle memory, calls per second, and the first launch through npx with an empty cache.
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  command,
  figure,
  inTurn,
  mainThreadTime,
  median,
  minimum,
  peers,
  RawClient,
  ratio,
} from "../../scripts/lib/bench-kit.mjs";
import { pnpm, ROOT, serverNames } from "../../scripts/lib/setup.mjs";

/** @typedef {import("../../scripts/lib/bench-kit.mjs").Report} Report */
/** @typedef {Record<string, string[]>} Commands */

export const title = "start, memory, throughput";

const OFFICIAL = { "@modelcontextprotocol/server-filesystem": "2026.8.31" };
/** Measured next to the Node.js that runs the benchmark, since most users have it. */
const NEWER_NODE = { node: "24.21.0" };

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
    const newer = (await peers(NEWER_NODE))("node/bin/node");
    for (const { version, node } of [
      { version: process.versions.node, node: process.execPath },
      { version: NEWER_NODE.node, node: newer },
    ]) {
      const onNode = Object.fromEntries(
        Object.entries(commands).map(([name, [, ...args]]) => [name, [node, ...args]]),
      );
      await starts(report, onNode, version);
      await throughput(report, onNode, folder, version);
    }
    await firstLaunch(report, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param {Report} report @param {Commands} commands @param {string} version */
async function starts(report, commands, version) {
  /** @type {Record<string, number>} */
  const memory = {};
  /** @type {Record<string, number[]>} */
  const main = {};
  const taken = await inTurn(
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
  const loop = median(taken["bare loop"]);
  const official = median(taken["official filesystem"]);
  const cost = Object.fromEntries(
    Object.entries(main).map(([name, list]) => [name, median(list.sort((a, b) => a - b))]),
  );
  report({
    title: `Spawn to first answer, and memory after it, Node.js ${version}`,
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
    rows: Object.entries(taken).map(([name, list]) => [
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
      "Goals: at most 2.4x the bare loop and 0.38x the official server, 1.5x of the bare loop's main thread (Node.js 24: 2.2x), 50 MB. A start lists its tools from what was written down at build, and loads them with the first call.",
    ],
  });
}

/**
 * Calls per second and CPU time per call, after the JIT compiler has finished: the first thousands of calls take three times as
 * long.
 *
 * @typedef {[what: string, argv: string[], name: string, args: object]} Job
 * @type {(report: Report, commands: Commands, folder: string, version: string) => Promise<void>}
 */
async function throughput(report, commands, folder, version) {
  const WARM_UP = 20_000;
  const MEASURED = 20_000;
  const file = join(folder, "small.txt");
  await writeFile(file, "one line\n");
  /** @type {Record<string, number>} */
  const cpu = {};
  /** @type {(job: Job) => () => Promise<number>} */
  const rate =
    ([what, argv, name, args]) =>
    async () => {
      const client = new RawClient(argv);
      await client.initialize();
      /** @param {number} total */
      const inLanes = (total) => {
        let sent = 0;
        const lane = async () => {
          while (sent < total) {
            sent += 1;
            await client.call(name, args);
          }
        };
        return Promise.all(Array.from({ length: 64 }, lane));
      };
      await inLanes(WARM_UP);
      const [started, before] = [performance.now(), await client.cpu()];
      await inLanes(MEASURED);
      const perSecond = MEASURED / ((performance.now() - started) / 1000);
      cpu[what] = Math.min(cpu[what] ?? Number.POSITIVE_INFINITY, (await client.cpu()) - before);
      await client.close();
      return perSecond;
    };
  const official = commands["official filesystem"] ?? [];
  const filesystem = [...(commands["filesystem"] ?? []), folder];
  const list = "list_allowed_directories";
  const read = "read_text_file, one line";
  /** @type {Job[]} */
  const jobs = [
    ["bare loop, no work", commands["bare loop"] ?? [], "any", {}],
    [`official: ${list}`, official, list, {}],
    [`ours: ${list}`, filesystem, list, {}],
    [`official: ${read}`, official, "read_text_file", { path: file }],
    [`ours: ${read}`, filesystem, "read_text_file", { path: file }],
  ];
  const taken = await inTurn(3, Object.fromEntries(jobs.map((job) => [job[0], rate(job)])), 0);
  /** @param {string} what */
  const peerOf = (what) => what.replace(/^ours/, "official");
  report({
    title: `Calls per second after ${WARM_UP.toLocaleString("en-US")} calls, 64 in flight, Node.js ${version}`,
    columns: [
      "",
      "median",
      "µs of processor time a call, in the server",
      "of the official server's",
    ],
    rows: Object.entries(taken).map(([what, list]) => [
      what,
      figure(median(list)),
      figure(((cpu[what] ?? Number.NaN) * 1000) / MEASURED),
      ratio((cpu[what] ?? Number.NaN) / (cpu[peerOf(what)] ?? Number.NaN)),
    ]),
    notes: [
      "Goals: at most 0.5x the official server for the list, 0.7x for reading. The client shares the machine's cores, so processor time is the steadier figure.",
    ],
  });
}

/** @param {Report} report @param {string} folder */
async function firstLaunch(report, folder) {
  const packed = join(folder, "packed");
  await pnpm(["--filter", "@refmcp/server-filesystem", "pack", "--pack-destination", packed], {
    quiet: true,
  });
  const [tarball = ""] = await readdir(packed);
  let launch = 0;
  /** @param {string[]} what */
  const fresh =
    (...what) =>
    async () => {
      const home = join(folder, `launch-${launch++}`);
      await command("mkdir", ["-p", home]);
      const client = new RawClient(["npx", "-y", "--cache", join(home, "cache"), ...what, folder], {
        cwd: home,
      });
      const took = await client.initialize();
      await client.close();
      return took;
    };
  const taken = await inTurn(
    3,
    {
      "official filesystem from the registry": fresh(
        `@modelcontextprotocol/server-filesystem@${Object.values(OFFICIAL)[0]}`,
      ),
      "ours from its tarball": fresh(
        `--package=file:${join(packed, tarball)}`,
        "refmcp-server-filesystem",
      ),
    },
    0,
  );
  const official = median(taken["official filesystem from the registry"]);
  report({
    title: "First launch through npx, empty npm cache",
    columns: ["", "median ms", "times faster"],
    rows: Object.entries(taken).map(([name, list]) => [
      name,
      figure(median(list)),
      ratio(official / median(list)),
    ]),
    notes: [
      "Ours is not published yet, so npm reads one local tarball instead of downloading one; the official server is one package with about ninety dependencies.",
    ],
  });
}
