// The filesystem table: searching, trees, large files, many files, edits, memory.
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
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

/** @typedef {import("../../../scripts/lib/bench-kit.mjs").Report} Report */
/** @typedef {{ official: string[], ours: string[], rg: string, tree: string, work: string }} Parts */

export const title = "files, trees and searches";

const VERSION = "2026.8.31";
const BIN = join(ROOT, "servers", "filesystem", "dist", "bin.js");

/** @param {{ report: Report }} harness */
export async function bench({ report }) {
  const top = await mkdtemp(join(tmpdir(), "refmcp-bench-"));
  try {
    const tree = join(top, "tree");
    const work = join(top, "work");
    await makeTree(tree);
    await makeWork(work);
    const peer = await peers({
      "@modelcontextprotocol/server-filesystem": VERSION,
      "@vscode/ripgrep": "1.18.0",
    });
    const official = [
      process.execPath,
      peer("@modelcontextprotocol/server-filesystem/dist/index.js"),
      tree,
      work,
    ];
    const ours = [process.execPath, BIN, tree, work, "--journal-dir", join(top, "journal")];
    const platform = `@vscode/ripgrep-${process.platform}-${process.arch}`;
    const rg = peer(`${platform}/bin/rg`);
    const parts = { official, ours, rg, tree, work };
    await searches(report, parts);
    await contents(report, parts);
    await heads(report, parts);
    await replacements(report, parts);
  } finally {
    await rm(top, { recursive: true, force: true });
  }
}

/** 100,000 files: 40,000 of a project, 60,000 that its .gitignore hides. @param {string} root */
async function makeTree(root) {
  await mkdir(root, { recursive: true });
  await writeFile(join(root, ".gitignore"), "node_modules/\n");
  /** @param {string} folder @param {number} folders @param {number} files */
  const fill = async (folder, folders, files) => {
    for (let i = 0; i < folders; i++) {
      const sub = join(folder, `dir-${String(i).padStart(4, "0")}`);
      await mkdir(sub, { recursive: true });
      const names = Array.from(
        { length: files },
        (_, j) => `file-${String(j).padStart(3, "0")}.${j % 10 === 0 ? "ts" : "txt"}`,
      );
      await Promise.all(
        names.map((name, j) =>
          writeFile(
            join(sub, name),
            `line one of ${name}\n${(i + j) % 97 === 0 ? "needle here\n" : "hay\n"}and the end\n`,
          ),
        ),
      );
    }
  };
  await fill(join(root, "src"), 400, 100);
  await fill(join(root, "node_modules"), 600, 100);
}

/** @param {string} root */
async function makeWork(root) {
  await mkdir(join(root, "many"), { recursive: true });
  for (let i = 0; i < 500; i++)
    await writeFile(join(root, "many", `small-${i}.txt`), `small file ${i}\n`.repeat(8));
  const line = "the quick brown fox jumps over the lazy dog, line ";
  let text = "";
  for (let i = 0; text.length < 5_000_000; i++) text += `${line}${i}\n`;
  await writeFile(join(root, "edit-original.txt"), text);
  await writeFile(join(root, "large.txt"), text.repeat(20));
}

/** @param {Report} report @param {Parts} parts */
async function searches(report, { official, ours, rg, tree }) {
  const theirs = await connect(official);
  const mine = await connect(ours);
  const names = await inTurn(3, {
    official: () => theirs.call("search_files", { path: tree, pattern: "**/*.ts" }),
    "ours, all files": () =>
      mine.call("search_files", {
        path: tree,
        pattern: "*.ts",
        include_ignored: true,
        limit: 1000,
      }),
    "ours, ignore rules": () =>
      mine.call("search_files", { path: tree, pattern: "*.ts", limit: 1000 }),
  });
  const trees = await inTurn(3, {
    official: () => theirs.call("directory_tree", { path: tree }),
    ours: () => mine.call("directory_tree", { path: tree }),
  });
  const all = { path: tree, pattern: "needle", include_ignored: true, limit: 1000 };
  const ignoring = { path: tree, pattern: "needle", limit: 1000 };
  const text = await inTurn(3, {
    // Its output is read, because ripgrep stops at the first match if its output is discarded.
    "ripgrep, all files": () =>
      command(rg, ["--no-config", "--no-ignore", "--hidden", "--json", "needle", tree]),
    "ripgrep, ignore rules": () =>
      command(rg, ["--no-config", "--no-require-git", "--json", "needle", tree]),
    "ours, all files": () => mine.call("search_text", all),
    "ours, ignore rules": () => mine.call("search_text", ignoring),
  });
  /** @param {string} what @param {number[]} list @param {number[]} floor */
  const row = (what, list, floor) => [
    what,
    figure(median(list)),
    ratio(median(list) / median(floor)),
  ];
  report({
    title: "100,000 files, 60,000 of them behind ignore rules",
    columns: ["", "median ms", "of the official server, or of ripgrep"],
    rows: [
      row("search_files, official", names.official, names.official),
      row("search_files, ours, all files", names["ours, all files"], names.official),
      row("search_files, ours, ignore rules", names["ours, ignore rules"], names.official),
      row("directory_tree, official", trees.official, trees.official),
      row("directory_tree, ours", trees.ours, trees.official),
      .../** @type {const} */ (["all files", "ignore rules"]).flatMap((which) => [
        row(
          `content search, ripgrep alone, ${which}`,
          text[`ripgrep, ${which}`],
          text[`ripgrep, ${which}`],
        ),
        row(`search_text, ours, ${which}`, text[`ours, ${which}`], text[`ripgrep, ${which}`]),
      ]),
    ],
    notes: [
      "Ours answers the first 1,000 names or lines in order and a cursor for the rest; the official server answers all at once.",
      "The official server has no content search; ours is V8's own engine in threads. ripgrep answers with every match, ours with the first 1,000 and their total.",
    ],
  });
  report({
    title: "Memory after it (peak resident, MB)",
    columns: ["official", "ours"],
    rows: [[figure((await theirs.memory()).peak), figure((await mine.memory()).peak)]],
  });
  await theirs.close();
  await mine.close();
}

/** @param {Report} report @param {Parts} parts */
async function contents(report, { official, ours, work }) {
  const theirs = await connect(official);
  const mine = await connect(ours);
  const large = join(work, "large.txt");
  const paths = Array.from({ length: 500 }, (_, i) => join(work, "many", `small-${i}.txt`));
  /** @param {RawClient} client @param {string} name */
  const editOf = (client, name) => {
    let round = 0;
    const file = join(work, `edit-${name}.txt`);
    return async () => {
      if (round === 0) await copyFile(join(work, "edit-original.txt"), file);
      const before = round === 0 ? "lazy dog, line 40000\n" : `lazy dog, line 40000 (${round})\n`;
      round += 1;
      const started = performance.now();
      await client.call("edit_file", {
        path: file,
        edits: [{ oldText: before, newText: `lazy dog, line 40000 (${round})\n` }],
      });
      return performance.now() - started;
    };
  };
  /** @type {Record<string, (client: RawClient, name: string) => () => unknown>} */
  const jobs = {
    "read of 100 MB": (client) => () => client.call("read_text_file", { path: large }),
    "first 10 lines of 100 MB": (client) => () =>
      client.call("read_text_file", { path: large, head: 10 }),
    "last 10 lines of 100 MB": (client) => () =>
      client.call("read_text_file", { path: large, tail: 10 }),
    "500 small files, 25 a call": (client) => () => readAll(client, paths),
    "edit of a 5 MB file": (client, name) => editOf(client, name),
  };
  const rows = [];
  for (const [what, job] of Object.entries(jobs)) {
    const [before, own] = [theirs.bytes, mine.bytes];
    const durations = await inTurn(5, {
      official: job(theirs, "official"),
      ours: job(mine, "ours"),
    });
    const wire = [theirs.bytes - before, mine.bytes - own].map(
      (bytes) => `${figure(bytes / 6 / 1000)} kB`,
    );
    rows.push([
      what,
      figure(median(durations.official)),
      figure(median(durations.ours)),
      ratio(median(durations.ours) / median(durations.official)),
      ...wire,
    ]);
  }
  report({
    title: "Files over stdio",
    columns: ["", "official ms", "ours ms", "ratio", "official sends", "ours sends"],
    rows,
    notes: [
      "Missed: small reads cost more than the official server's. Every file is opened without following links and what was opened is verified before a byte is read, where the official server checks a path and then opens the path again, which may have changed by then; and the answer says encoding, line ends and hash.",
    ],
  });
  report({
    title: "Memory after these (peak resident, MB)",
    columns: ["official", "ours"],
    rows: [[figure((await theirs.memory()).peak), figure((await mine.memory()).peak)]],
  });
  await theirs.close();
  await mine.close();
}

/** Processor time of the first lines of a large file. @param {Report} report @param {Parts} parts */
async function heads(report, { official, ours, work }) {
  const calls = 400;
  const path = join(work, "large.txt");
  const clients = { official: await connect(official), ours: await connect(ours) };
  /** @param {RawClient} client */
  const cpuOf = (client) => async () => {
    const before = await processorTime(client.child.pid);
    for (let i = 0; i < calls; i++) await client.call("read_text_file", { path, head: 10 });
    return (((await processorTime(client.child.pid)) - before) / calls) * 1000;
  };
  const cpuTimes = await inTurn(9, {
    official: cpuOf(clients.official),
    ours: cpuOf(clients.ours),
  });
  const [theirs, mine] = [median(cpuTimes.official), median(cpuTimes.ours)];
  report({
    title: "First 10 lines of 100 MB, CPU a call",
    columns: ["official µs", "ours µs", "ratio"],
    rows: [[figure(theirs), figure(mine), ratio(mine / theirs)]],
  });
  await clients.official.close();
  await clients.ours.close();
}

/**
 * Every occurrence of a literal. The official server has no such edit, so the floor is reading, replacing and writing.
 *
 * @param {Report} report @param {Parts} parts
 */
async function replacements(report, { ours, work }) {
  const mine = await connect(ours);
  const path = join(work, "replaced.txt");
  const rows = [];
  for (const [line, count] of /** @type {const} */ ([
    ["the quick brown fox jumps over lazy dogs\n", 600_000],
    ["fox, ok\n", 3_900_000],
  ])) {
    const text = line.repeat(count);
    /** @param {() => Promise<unknown>} work */
    const timed = async (work) => {
      await writeFile(path, text);
      const started = performance.now();
      await work();
      return performance.now() - started;
    };
    const edits = [{ oldText: "fox", newText: "hound" }];
    const durations = await inTurn(3, {
      floor: () =>
        timed(async () =>
          writeFile(path, (await readFile(path, "utf8")).replaceAll("fox", "hound")),
        ),
      ours: () => timed(() => mine.call("edit_file", { path, edits, replace_all: true })),
    });
    const [floor, time] = [median(durations.floor), median(durations.ours)];
    rows.push([
      figure(count),
      figure(text.length / 1e6),
      figure(floor),
      figure(time),
      ratio(time / floor),
    ]);
  }
  report({
    title: "Replacing every occurrence of a literal",
    columns: ["places", "MB", "Node.js alone, ms", "ours ms", "ratio"],
    rows,
    notes: [
      "Ours also makes the diff, hashes the result and keeps the previous content for undo_change.",
    ],
  });
  await mine.close();
}

/**
 * Reads all files, and checks that each is complete, since an incomplete answer would look fast.
 *
 * @param {RawClient} client @param {string[]} paths
 */
async function readAll(client, paths) {
  for (let start = 0; start < paths.length; start += 25) {
    const batch = paths.slice(start, start + 25);
    const text = JSON.stringify(
      (await client.call("read_multiple_files", { paths: batch })).content,
    );
    for (const path of batch) {
      const index = /small-(\d+)/.exec(path)?.[1];
      const lines = text.split(`small file ${index}\\n`).length - 1;
      if (lines !== 8) throw new Error(`${path}: ${lines} of 8 lines came.`);
    }
  }
}

/** @param {string[]} argv */
async function connect(argv) {
  const client = new RawClient(argv);
  await client.initialize();
  return client;
}
