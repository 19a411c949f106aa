// What the solutions of the daily tasks share: places, and what a model does with the answers of the official server.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";

/** @typedef {import("../daily.mjs").Agent} Agent */
/** @typedef {import("./world.mjs").World} World */
/** @typedef {import("./world.mjs").Task} Task */

export const CAMERA = "Pictures/Camera";
export const SCANS = "Pictures/Scans";
export const ARTICLES = "Documents/Articles";
export const PROJECTS = "Old/Projects";
export const TEXTS = "Documents/Texts";
export const BANK = "Documents/Bank";
export const NOTES = "Documents/Notes";
export const OFFICE = "Documents/Office";
export const STUDENTS = "Documents/Students";
export const LEGAL = "Documents/Legal";
export const PAPERS = "Documents/Papers";
export const INVOICES = "Documents/Invoices";
export const LOG = "Logs/server.log";
export const VIDEO = "Videos/trip.mov";
export const OLD = new Date("2025-01-01T00:00:00Z");
export const KINDS = {
  Code: ["ts", "cts", "mts", "cjs"],
  Archives: ["gz"],
  Data: ["json", "xml", "map"],
};

/** @param {string} name @returns {string} "IMG_20250103_…" → "2025-01" */
export const monthOf = (name) => name.replace(/^IMG_(\d{4})(\d\d).*/, "$1-$2");
/** @param {Date} time */
export const yearOf = (time) => String(time.getFullYear());
/** @param {string} text */
export const linesOf = (text) => text.replace(/\n$/, "").split("\n");
/** @param {string} text @param {string[]} parts */
export const hasAll = (text, parts) =>
  parts.every((part) => text.normalize("NFC").includes(part.normalize("NFC")));
/** @param {string} name @returns {string | undefined} */
export const kindOf = (name) =>
  Object.entries(KINDS).find(([, ends]) => ends.includes(extname(name).slice(1)))?.[0];

// What a model does with the official server's answers.

/** Names in a folder. @param {Agent} agent @param {string} folder @param {"FILE" | "DIR"} [kind] */
export async function list(agent, folder, kind = "FILE") {
  const text = await agent.call("list_directory", { path: agent.at(folder) });
  return [...text.matchAll(new RegExp(`^\\[${kind}\\] (.*)$`, "gm"))].map(([, name = ""]) => name);
}

/** @param {Agent} agent @param {string} path */
export async function timeOf(agent, path) {
  const text = await agent.call("get_file_info", { path });
  return new Date(/^modified: (.*?)( \(|$)/m.exec(text)?.[1] ?? Number.NaN);
}

/** @param {Agent} agent @param {[string, string][]} pairs below the root */
export async function moveAll(agent, pairs) {
  for (const folder of new Set(pairs.map(([, to]) => dirname(to))))
    await agent.call("create_directory", { path: agent.at(folder) });
  for (const [from, to] of pairs)
    await agent.call("move_file", { source: agent.at(from), destination: agent.at(to) });
}

/** The texts of many files. @param {Agent} agent @param {string[]} files below the root @returns {Promise<Map<string, string>>} */
export async function readAll(agent, files) {
  const text = await agent.call("read_multiple_files", {
    paths: files.map((file) => agent.at(file)),
  });
  const texts = new Map();
  let start = 0;
  for (const [i, file] of files.entries()) {
    const next = files[i + 1];
    const from = start + agent.at(file).length + 2;
    const end = next === undefined ? -1 : text.indexOf(`\n---\n${agent.at(next)}:`, from);
    texts.set(file, text.slice(from, end === -1 ? undefined : end).replace(/\n$/, ""));
    start = end + 5;
  }
  return texts;
}

/** @param {Agent} agent @param {string} file @param {string} content */
export const write = (agent, file, content) =>
  agent.call("write_file", { path: agent.at(file), content });

/** All files and folders below one. @param {Agent} agent @param {string} folder */
export async function tree(agent, folder) {
  /** @typedef {{ name: string, type: string, children?: Node[] }} Node */
  const text = await agent.call("directory_tree", { path: agent.at(folder) });
  /** @type {string[]} */
  const files = [];
  /** @type {string[]} */
  const folders = [];
  /** @param {Node[]} nodes @param {string} at */
  const walk = (nodes, at) => {
    for (const { name, type, children } of nodes) {
      (type === "directory" ? folders : files).push(join(at, name));
      walk(children ?? [], join(at, name));
    }
  };
  walk(JSON.parse(text), "");
  return { files, folders };
}

/** Sizes as the official server rounds them. @param {Agent} agent @param {string} folder */
export async function sizes(agent, folder) {
  const text = await agent.call("list_directory_with_sizes", { path: agent.at(folder) });
  return [...text.matchAll(/^\[FILE\] (.*?)\s+([\d.]+) (B|KB|MB|GB)$/gm)].map(
    ([, name = "", number, unit = ""]) => ({
      name,
      size: Number(number) * 1024 ** ["B", "KB", "MB", "GB"].indexOf(unit),
    }),
  );
}

/** Groups of equal files. @param {World} world @param {string} folder @returns {string[][]} */
export function duplicates(world, folder) {
  const groups = new Map();
  for (const { path } of world.all(folder)) {
    const hash = createHash("sha256")
      .update(readFileSync(join(world.original, folder, path)))
      .digest("hex");
    groups.set(hash, [...(groups.get(hash) ?? []), path]);
  }
  return [...groups.values()].filter((group) => group.length > 1);
}

/** Students by name, from lines "Name: …" and "ID: …". @param {string} text */
export function namesakes(text) {
  const groups = new Map();
  for (const [, name, id] of text.matchAll(/Name: (.*)\n(?:\d+[:-])?ID: (\d+)/g))
    groups.set(name, [...(groups.get(name) ?? []), id]);
  const same = [...groups].filter(([, ids]) => ids.length > 1);
  return same
    .map(([name, ids]) => `name: ${name}\ncount: ${ids.length}\nids: ${ids.join(", ")}\n`)
    .join("\n");
}

/** The same lines in any order. @param {string} a @param {string} b */
export const sameLines = (a, b) =>
  a.split("\n").filter(Boolean).sort().join() === b.split("\n").filter(Boolean).sort().join();

/** The files that another folder should have after filing by author. @param {World} world */
export function byAuthor(world) {
  const groups = new Map();
  for (const name of world.before(PAPERS))
    for (const [, author = ""] of world
      .textBefore(join(PAPERS, name))
      .matchAll(/citation_author" content="(.*?)"/g))
      groups.set(author, [...(groups.get(author) ?? []), name]);
  const many = [...groups].filter(([, names]) => names.length >= 6);
  return new Map(
    many.map(([author, names]) => [author.toLowerCase().replaceAll(/\W+/g, "_"), names]),
  );
}

/** The names of equal files in the downloads. @param {Agent} agent */
export async function officialDuplicates(agent) {
  const bySize = new Map();
  for (const { name, size } of await sizes(agent, "Downloads"))
    bySize.set(size, [...(bySize.get(size) ?? []), name]);
  const doubtful = [...bySize.values()].filter((group) => group.length > 1).flat();
  const byText = new Map();
  for (let i = 0; i < doubtful.length; i += 50)
    for (const [file, text] of await readAll(
      agent,
      doubtful.slice(i, i + 50).map((name) => join("Downloads", name)),
    ))
      byText.set(text, [...(byText.get(text) ?? []), basename(file)]);
  return [...byText.values()].filter((group) => group.length > 1);
}

/** The same with our server, whose sizes and hashes are exact. @param {Agent} agent */
export async function ownDuplicates(agent) {
  const folder = { path: agent.at("Downloads"), limit: 1_000 };
  const text = await agent.pages("list_directory_with_sizes", folder);
  /** @type {Map<string, string[]>} */
  const bySize = new Map();
  for (const [, size = "", name = ""] of text.matchAll(/^\[FILE\] (\d+) \S+ (.*)$/gm))
    bySize.set(size, [...(bySize.get(size) ?? []), name]);
  const doubtful = [...bySize.values()].filter((group) => group.length > 1).flat();
  /** @type {Map<string, string[]>} */
  const byHash = new Map();
  for (const name of doubtful) {
    const info = await agent.call("get_file_info", { path: agent.at("Downloads", name) });
    const hash = /^hash: (.*)$/m.exec(info)?.[1] ?? name;
    byHash.set(hash, [...(byHash.get(hash) ?? []), name]);
  }
  return [...byHash.values()].filter((group) => group.length > 1);
}

/** The text that our server has read, without its own last line. @param {string} answer */
export const withoutFacts = (answer) => answer.slice(0, answer.lastIndexOf("\n["));

/** One solution for several servers. @param {string[]} whom @param {import("./world.mjs").Solve} solve */
export function each(whom, solve) {
  return Object.fromEntries(whom.map((who) => [who, solve]));
}
