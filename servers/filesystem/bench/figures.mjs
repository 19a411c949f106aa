// Processor time of daily calls, trees and searches, next to the official server, cp and ripgrep.
// REFMCP_CORPORA is a directory with a clone of python/typeshed; without it, a tree of the same shape is generated.
import { cp, mkdir, mkdtemp, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  command,
  figure,
  inTurn,
  median,
  peers,
  processorTime,
  RawClient,
  ratio,
} from "../../../scripts/lib/bench-kit.mjs";
import { ROOT } from "../../../scripts/lib/setup.mjs";
import { makeSources } from "./content-search.mjs";

/** @typedef {import("../../../scripts/lib/bench-kit.mjs").Report} Report */
/** @typedef {"official" | "ours"} Who */
/** @typedef {Record<Who, RawClient>} Clients */

export const title = "processor time of calls, trees and searches";

/** @param {{ report: Report }} harness */
export async function bench({ report }) {
  if (process.platform !== "linux") return "processor times come from /proc";
  const top = await mkdtemp(join(tmpdir(), "refmcp-bench-"));
  const work = join(top, "work");
  await mkdir(work);
  const peer = await peers({ "@modelcontextprotocol/server-filesystem": "2026.8.31" });
  const rg = (await peers({ "@vscode/ripgrep": "1.18.0" }))(
    `@vscode/ripgrep-linux-${process.arch}/bin/rg`,
  );
  /** @type {Record<Who, string[]>} */
  const argv = {
    official: [peer("@modelcontextprotocol/server-filesystem/dist/index.js"), work],
    ours: [
      join(ROOT, "servers/filesystem/dist/bin.js"),
      work,
      "--journal-dir",
      join(top, "journal"),
    ],
  };
  const env = { ...process.env, HOME: top };
  /** @type {Partial<Clients>} */
  const clients = {};
  try {
    for (const who of /** @type {Who[]} */ (Object.keys(argv))) {
      clients[who] = new RawClient([process.execPath, ...argv[who]], { env, cwd: work });
      await clients[who].initialize();
    }
    const all = /** @type {Clients} */ (clients);
    await calls(report, all, work);
    const sources = await sourcesIn(work);
    await searches(report, all.ours, rg, work, sources);
    await trees(report, all.ours, work, sources);
    await plans(report, all.ours, work);
  } finally {
    for (const client of Object.values(clients)) client.child.kill();
    await rm(top, { recursive: true, force: true });
  }
  return undefined;
}

/** @param {string} work */
async function sourcesIn(work) {
  const sources = join(work, "sources");
  const typeshed = join(process.env.REFMCP_CORPORA ?? "-", "typeshed");
  if (await stat(typeshed).catch(() => undefined)) await cp(typeshed, sources, { recursive: true });
  else await makeSources(sources);
  return sources;
}

/** @param {Report} report @param {Clients} clients @param {string} work */
async function calls(report, clients, work) {
  const at = (/** @type {string[]} */ ...parts) => join(work, ...parts);
  await mkdir(at("list"));
  for (let i = 0; i < 50; i++) await writeFile(at("list", `file-${i}.txt`), "x\n");
  await writeFile(at("small.txt"), "a line of a small file\n".repeat(80));
  await writeFile(at("large.log"), "the quick brown fox jumps over the lazy dog\n".repeat(1e6));
  const text = "a line of a new file\n".repeat(40);
  /** @type {Record<Who, string>} */
  const turn = { official: "a", ours: "a" };
  let version = 0;
  // The same content again would change nothing.
  const write = (/** @type {Who} */ who) => {
    version += 1;
    return { path: at(`${who}.txt`), content: `${text}${version}\n` };
  };
  /** @type {(who: Who) => { source: string, destination: string }} */
  const move = (who) => {
    const [from, to] = turn[who] === "a" ? ["a", "b"] : ["b", "a"];
    turn[who] = to;
    return { source: at(`${who}-${from}.txt`), destination: at(`${who}-${to}.txt`) };
  };
  /** @type {[what: string, goal: string, tool: string, args: (who: Who) => object][]} */
  const jobs = [
    ["small read", "0.8x", "read_text_file", () => ({ path: at("small.txt") })],
    ["list 50 names", "0.8x", "list_directory", () => ({ path: at("list") })],
    ["head of 44 MB", "1.0x", "read_text_file", () => ({ path: at("large.log"), head: 10 })],
    ["small write", "2x", "write_file", write],
    ["move", "1.5x", "move_file", move],
  ];
  for (const who of ["official", "ours"]) await writeFile(at(`${who}-a.txt`), text);
  const rows = [];
  for (const [what, goal, tool, argsOf] of jobs) {
    /** @param {Who} who */
    const cpuOf = (who) => async () => {
      const [client, count] = [clients[who], 200];
      const before = await client.cpu();
      for (let i = 0; i < count; i++) await client.call(tool, argsOf(who));
      return (((await client.cpu()) - before) / count) * 1000;
    };
    const cpuTimes = await inTurn(5, { official: cpuOf("official"), ours: cpuOf("ours") }, 2);
    const [theirs, mine] = [median(cpuTimes.official), median(cpuTimes.ours)];
    rows.push([what, figure(theirs), figure(mine), ratio(mine / theirs), goal]);
  }
  report({
    title: "Processor time a call, in µs",
    columns: ["", "official", "ours", "ratio", "goal"],
    rows,
    notes: ["Our server records each write and move on the disk, so that it can be undone."],
  });
}

/** Processor time of the processes that have ended here, in milliseconds. */
async function childrenTime() {
  const text = await readFile("/proc/self/stat", "utf8");
  const [user, system] = text.slice(text.lastIndexOf(")")).split(" ").slice(14, 16);
  return (Number(user) + Number(system)) * 10;
}

/** @param {string} program @param {string[]} args */
const cpuOfCommand = async (program, args) => {
  const before = await childrenTime();
  await command(program, args).catch(() => "");
  return (await childrenTime()) - before;
};

/** @type {(client: RawClient, tool: string, args: object) => Promise<{ cpu: number, ms: number, text: string }>} */
async function measured(client, tool, args) {
  const [before, started] = [await processorTime(client.child.pid), performance.now()];
  const { content } = await client.call(tool, args);
  const ms = performance.now() - started;
  const cpu = (await processorTime(client.child.pid)) - before;
  return { cpu, ms, text: content[0]?.text ?? "" };
}

/** @param {Report} report @param {RawClient} client @param {string} rg @param {string} work @param {string} sources */
async function searches(report, client, rg, work, sources) {
  const log = join(work, "large.log");
  const rows = [];
  for (const [where, path, pattern] of /** @type {const} */ ([
    ["sources", sources, "ZipExtFile"],
    ["sources", sources, "import"],
    ["sources", sources, "(?i)zipextfile"],
    ["sources", sources, "(?i)any"],
    ["sources", sources, "def [a-z]+_at\\("],
    ["44 MB", log, "(?i)lazy cat"],
    ["44 MB", log, "(?i)LAZY DOG"],
  ])) {
    const cpu = { ripgrep: 0, ours: 0 };
    const rounds = 6;
    await inTurn(
      rounds,
      {
        ripgrep: async () => {
          cpu.ripgrep += await cpuOfCommand(rg, ["--no-config", "-n", pattern, path]);
        },
        ours: async () => {
          cpu.ours += (await measured(client, "search_text", { path, pattern })).cpu;
        },
      },
      0,
    );
    rows.push([
      `\`${pattern}\` in ${where}`,
      figure(cpu.ripgrep / rounds),
      figure(cpu.ours / rounds),
      ratio(cpu.ours / cpu.ripgrep),
      "1.5x",
    ]);
  }
  report({
    title: "Processor time of a search, in ms",
    columns: ["", "ripgrep", "ours", "ratio", "goal"],
    rows,
  });
}

/** @param {Report} report @param {RawClient} client @param {string} work @param {string} sources */
async function trees(report, client, work, sources) {
  const project = join(work, "project");
  for (let i = 0; i < 1_250; i++) {
    const folder = join(project, "node_modules", `package-${i % 250}`, `lib-${i}`);
    await mkdir(folder, { recursive: true });
    await Promise.all(
      Array.from({ length: 20 }, (_, j) =>
        writeFile(join(folder, `f${j}.js`), `x = ${i}\n`.repeat(90)),
      ),
    );
  }
  const rows = [];
  for (const [what, source, goal] of /** @type {const} */ ([
    ["typeshed's 5,900 files", sources, "3x"],
    ["a project of 25,000 files", project, "3x"],
  ])) {
    const [theirs, mine] = [join(work, "cp-copy"), join(work, "our-copy")];
    const cpu = [];
    const copies = [];
    const deletions = [];
    for (let round = 0; round < 3; round++) {
      cpu.push(await cpuOfCommand("cp", ["-a", source, theirs]));
      copies.push(await measured(client, "copy_file", { source, destination: mine }));
      deletions.push(await measured(client, "delete_file", { path: mine, recursive: true }));
      await rm(theirs, { recursive: true });
    }
    const of = (/** @type {{ cpu: number }[]} */ list) =>
      median(list.map((sample) => sample.cpu).sort((a, b) => a - b));
    const floor = median(cpu.sort((a, b) => a - b));
    const slowest = Math.max(...deletions.map(({ ms }) => ms)) / 1000;
    rows.push([
      what,
      figure(floor),
      figure(of(copies)),
      ratio(of(copies) / floor),
      goal,
      figure(of(deletions)),
      `${figure(slowest)} s`,
    ]);
  }
  report({
    title: "Copying and deleting a tree, processor time in ms",
    columns: ["", "cp -a", "copy_file", "ratio", "goal", "delete_file", "delete_file, slowest"],
    rows,
  });
}

/** @param {Report} report @param {RawClient} client @param {string} work */
async function plans(report, client, work) {
  const [from, camera] = [join(work, "moved"), join(work, "camera")];
  await mkdir(from);
  await mkdir(camera);
  for (let i = 0; i < 3_000; i++) await writeFile(join(from, `f-${i}.txt`), `${i}\n`);
  for (let i = 0; i < 300; i++) {
    const file = join(camera, `IMG_${i}.jpg`);
    await writeFile(file, `${i}\n`);
    await utimes(file, new Date(2026, i % 12, 5), new Date(2026, i % 12, 5));
  }
  const moves = { source: join(from, "*.txt"), destination: join(work, "to", "{n:0001}-$0") };
  const many = await measured(client, "move_file", moves);
  const id = /Change ([\w-]+)/.exec(many.text)?.[1];
  const undone = await measured(client, "undo_change", { id });
  const months = { source: join(camera, "*.jpg"), destination: join(camera, "{mtime:yyyy-MM}/$0") };
  const preview = await measured(client, "move_file", { ...months, dryRun: true });
  const sorted = await measured(client, "move_file", months);
  const tokens = Math.ceil((preview.text.length + sorted.text.length) / 4);
  report({
    title: "Plans",
    columns: ["", "", "goal"],
    rows: [
      ["3,000 moves in a call, CPU ms a file", figure(many.cpu / 3_000), "2"],
      ["undone, CPU ms a file", figure(undone.cpu / 3_000), "2"],
      [
        "300 pictures into months",
        `2 calls, ${figure(tokens)} tokens answered`,
        "2 calls, 1,000 tokens",
      ],
    ],
  });
}
