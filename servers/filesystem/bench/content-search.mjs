// The content search of search_text and ripgrep in source files, a log and pictures.
// REFMCP_CORPORA is a directory with a clone of python/typeshed; without it, a tree of the same shape is generated.
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
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
/** @typedef {{ ours: string[], rg: string, work: string }} Parts */

export const title = "content search";

const BIN = join(ROOT, "servers", "filesystem", "dist", "bin.js");

/** @param {{ report: Report }} harness */
export async function bench({ report }) {
  const top = await mkdtemp(join(tmpdir(), "refmcp-bench-"));
  try {
    const work = join(top, "work");
    await mkdir(work);
    const peer = await peers({ "@vscode/ripgrep": "1.18.0" });
    const rg = peer(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`);
    const ours = [process.execPath, BIN, work, "--journal-dir", join(top, "journal")];
    const parts = { ours, rg, work };
    await sources(report, parts);
    await log(report, parts);
    await pictures(report, parts);
  } finally {
    await rm(top, { recursive: true, force: true });
  }
}

/** 5,900 stub files in 1,100 folders, like typeshed. @param {string} root */
export async function makeSources(root) {
  for (let i = 0; i < 1_100; i++) {
    const folder = join(root, "stubs", `package-${i % 180}`, `module_${i}`);
    await mkdir(folder, { recursive: true });
    const write = async (/** @type {unknown} */ _, /** @type {number} */ j) => {
      const lines = Array.from({ length: 20 + ((i * 7 + j * 13) % 160) }, (_, k) => {
        const name = i % 97 === 0 && k === 3 ? "defined_at" : `method_${(i + j + k) % 900}`;
        return `    def ${name}(self, value: int | None = ...) -> list[str]: ...\n`;
      });
      await writeFile(
        join(folder, `file_${j}.pyi`),
        `import sys\nfrom typing import Any\n\n${lines.join("")}`,
      );
    };
    await Promise.all(Array.from({ length: i % 3 === 0 ? 6 : 5 }, write));
  }
}

/**
 * A rare and a common literal and an expression in a tree of sources.
 *
 * @param {Report} report @param {Parts} parts
 */
async function sources(report, { ours, rg, work }) {
  const corpora = process.env.REFMCP_CORPORA ?? "";
  const typeshed = join(corpora, "typeshed");
  const hasTypeshed =
    corpora !== "" && (await stat(typeshed).catch(() => undefined))?.isDirectory() === true;
  const tree = hasTypeshed ? typeshed : join(work, "sources");
  if (!hasTypeshed) await makeSources(tree);
  const mine = await connect([...ours, tree]);
  const rows = [];
  for (const pattern of [
    hasTypeshed ? "ZipExtFile" : "absent_name",
    "import",
    "def [a-z]+_at\\(",
  ]) {
    /** @type {number[]} */
    const cpu = [];
    const durations = await inTurn(9, {
      ripgrep: () =>
        command(rg, ["--no-config", "--no-require-git", "--json", pattern, tree]).catch(() => ""),
      ours: async () => {
        const [before, started] = [await processorTime(mine.child.pid), performance.now()];
        await mine.call("search_text", { path: tree, pattern });
        const took = performance.now() - started;
        cpu.push((await processorTime(mine.child.pid)) - before);
        return took;
      },
    });
    const [floor, time] = [median(durations.ripgrep), median(durations.ours)];
    const used = cpu.reduce((sum, value) => sum + value, 0) / cpu.length;
    rows.push([`\`${pattern}\``, figure(floor), figure(time), ratio(time / floor), figure(used)]);
  }
  report({
    title: hasTypeshed
      ? "Content search in typeshed, 5,900 files"
      : "Content search in 5,900 generated source files",
    columns: ["pattern", "ripgrep ms", "ours ms", "ratio", "ours, CPU ms"],
    rows,
  });
  await mine.close();
}

/**
 * A folder of 1,000 pictures of 200 kB, like those of a camera, and one note.
 *
 * @param {Report} report @param {Parts} parts
 */
async function pictures(report, { ours, rg, work }) {
  const folder = join(work, "pictures");
  await mkdir(folder);
  const head = Buffer.from("\xff\xd8\xff\xe0\0\x10JFIF\0", "latin1");
  const count = 1_000;
  for (let i = 0; i < count; i++)
    await writeFile(join(folder, `IMG_${i}.jpg`), Buffer.concat([head, randomBytes(200_000)]));
  await writeFile(join(folder, "note.txt"), "the lake in Graz\n");
  const mine = await connect(ours);
  const durations = await inTurn(5, {
    ripgrep: () => command(rg, ["--no-config", "--json", "lake in", folder]),
    ours: async () => {
      const answer = await mine.call("search_text", { path: folder, pattern: "lake in" });
      if (!JSON.stringify(answer.content).includes("note.txt"))
        throw new Error("The note was not found.");
    },
  });
  const [floor, time] = [median(durations.ripgrep), median(durations.ours)];
  report({
    title: "Content search in a folder of pictures",
    columns: ["files", "ripgrep ms", "ours ms", "ratio"],
    rows: [
      [
        `${figure(count)} pictures of 200 kB, 1 note`,
        figure(floor),
        figure(time),
        ratio(time / floor),
      ],
    ],
  });
  await mine.close();
  await rm(folder, { recursive: true });
}

/**
 * A literal and three expressions in a log of 50 MB. Both must find the same number of lines.
 *
 * @param {Report} report @param {Parts} parts
 */
async function log(report, { ours, rg, work }) {
  const file = join(work, "server.log");
  await writeFile(file, logText(50_000_000));
  const mine = await connect(ours);
  const rows = [];
  for (const pattern of [
    "ERROR",
    "ERROR\\s+\\[worker-\\d+\\] request \\d+ timeout after \\d+s",
    "(ERROR|FATAL|PANIC)",
    "^2026-11-22T10:1[0-5].*items/99\\d$",
  ]) {
    let [total, lines] = [0, 0];
    const durations = await inTurn(5, {
      ripgrep: async () => {
        lines = Number(await command(rg, ["--no-config", "--count", pattern, file]));
      },
      ours: async () => {
        const answer = await mine.call("search_text", { path: file, pattern });
        total = Number(
          /([\d,]+) lines? in/.exec(JSON.stringify(answer.content))?.[1]?.replaceAll(",", ""),
        );
      },
    });
    if (total !== lines) throw new Error(`${pattern}: ${total} lines, ripgrep finds ${lines}.`);
    const [floor, time] = [median(durations.ripgrep), median(durations.ours)];
    rows.push([
      `\`${pattern.replaceAll("|", "\\|")}\``,
      figure(lines),
      figure(floor),
      figure(time),
      ratio(time / floor),
    ]);
  }
  report({
    title: "Content search in a log of 50 MB",
    columns: ["pattern", "lines", "ripgrep ms", "ours ms", "ratio"],
    rows,
    notes: [
      "ripgrep only counts, in a new process each time; ours counts and shows the first 100 lines.",
    ],
  });
  await mine.close();
}

/** @param {number} bytes */
function logText(bytes) {
  const lines = [];
  let size = 0;
  for (let i = 0; size < bytes; i++) {
    const [level, what] =
      i % 7500 === 17 ? ["ERROR", `timeout after ${i % 90}s`] : ["INFO", `handled in ${i % 900}ms`];
    const minute = String(i % 60).padStart(2, "0");
    const path = `path=/api/v1/items/${i % 1000}`;
    const line = `2026-11-22T10:${minute}:11.123Z ${level} [worker-${i % 16}] request ${i} ${what} ${path}\n`;
    lines.push(line);
    size += line.length;
  }
  return lines.join("");
}

/** @param {string[]} argv */
async function connect(argv) {
  const client = new RawClient(argv);
  await client.initialize();
  return client;
}
