// The calls whose answers are compared between the official servers and ours, and the comparison. `node scripts/official.mjs`
// records the official answers, so that neither pages nor tests need the network.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { listen, RawClient } from "./bench-kit.mjs";

const execute = promisify(execFile);

/** An image of one pixel. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const ada = { name: "Ada", entityType: "person", observations: ["wrote the first program"] };
const engine = { name: "Engine", entityType: "machine", observations: ["was never built"] };
const works = { from: "Ada", to: "Engine", relationType: "works on" };
const repo_path = "PLACE";

/**
 * Calls by server, in this order, one for each official tool. PLACE is replaced with what `prepare` created.
 *
 * @type {Record<string, [tool: string, values: object][]>}
 */
const CALLS = {
  fetch: [["fetch", { url: "PLACE" }]],
  filesystem: [
    ["list_allowed_directories", {}],
    ["read_file", { path: "PLACE/one.txt" }],
    ["read_text_file", { path: "PLACE/one.txt" }],
    ["read_media_file", { path: "PLACE/pixel.png" }],
    ["read_multiple_files", { paths: ["PLACE/one.txt", "PLACE/two.txt"] }],
    ["list_directory", { path: "PLACE" }],
    ["list_directory_with_sizes", { path: "PLACE" }],
    ["directory_tree", { path: "PLACE" }],
    ["search_files", { path: "PLACE", pattern: "**/*.txt" }],
    ["get_file_info", { path: "PLACE/one.txt" }],
    ["create_directory", { path: "PLACE/new" }],
    ["write_file", { path: "PLACE/new/four.txt", content: "fifth\n" }],
    ["edit_file", { path: "PLACE/one.txt", edits: [{ oldText: "second", newText: "2nd" }] }],
    ["move_file", { source: "PLACE/two.txt", destination: "PLACE/moved.txt" }],
  ],
  git: [
    ["git_status", { repo_path }],
    ["git_diff_unstaged", { repo_path }],
    ["git_add", { repo_path, files: ["one.txt"] }],
    ["git_diff_staged", { repo_path }],
    ["git_reset", { repo_path }],
    ["git_add", { repo_path, files: ["one.txt"] }],
    ["git_commit", { repo_path, message: "Second" }],
    ["git_diff", { repo_path, target: "HEAD~1" }],
    ["git_log", { repo_path }],
    ["git_show", { repo_path, revision: "HEAD" }],
    ["git_create_branch", { repo_path, branch_name: "feature" }],
    ["git_checkout", { repo_path, branch_name: "feature" }],
    ["git_branch", { repo_path, branch_type: "local" }],
  ],
  memory: [
    ["create_entities", { entities: [ada, engine] }],
    ["create_relations", { relations: [works] }],
    ["add_observations", { observations: [{ entityName: "Ada", contents: ["was a countess"] }] }],
    ["search_nodes", { query: "countess" }],
    ["open_nodes", { names: ["Ada", "Engine"] }],
    ["read_graph", {}],
    [
      "delete_observations",
      { deletions: [{ entityName: "Ada", observations: ["was a countess"] }] },
    ],
    ["delete_relations", { relations: [works] }],
    ["delete_entities", { entityNames: ["Engine"] }],
  ],
};

/** The servers whose answers are compared. */
export const COMPARED = Object.keys(CALLS);

/**
 * The setup for a server: its arguments and variables, the value of PLACE, and the cleanup.
 *
 * @typedef {{ args: string[], env: NodeJS.ProcessEnv, place: string, end?: () => void }} Setup
 * @type {Record<string, (folder: string) => Promise<Setup>>}
 */
const prepare = {
  async fetch() {
    const site = createServer((_, response) =>
      response.setHeader("content-type", "text/html").end("<h1>Mill</h1><p>Open on Mondays.</p>"),
    );
    const place = `http://127.0.0.1:${await listen(site)}/`;
    return { args: ["--allow-host", "127.0.0.1"], env: {}, place, end: () => void site.close() };
  },
  async filesystem(folder) {
    const place = join(folder, "files");
    await mkdir(join(place, "notes"), { recursive: true });
    await writeFile(join(place, "one.txt"), "first\nsecond\n");
    await writeFile(join(place, "two.txt"), "third\n");
    await writeFile(join(place, "notes", "three.txt"), "fourth\n");
    await writeFile(join(place, "pixel.png"), Buffer.from(PIXEL, "base64"));
    return { args: [place], env: {}, place };
  },
  async git(folder) {
    const place = join(folder, "repository");
    await mkdir(place);
    await writeFile(join(place, "one.txt"), "first\n");
    // Without the user's configuration, which may sign commits.
    const env = { ...process.env, GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: "1" };
    /** @param {string[]} args */
    const git = (...args) => execute("git", args, { cwd: place, env });
    await git("init", "--quiet", "--initial-branch=main");
    await git("config", "user.name", "Ada");
    await git("config", "user.email", "ada@example.com");
    await git("add", ".");
    await git("commit", "--quiet", "--message=First");
    await writeFile(join(place, "one.txt"), "first\nsecond\n");
    return { args: [place], env: {}, place };
  },
  async memory(folder) {
    const place = join(folder, "memory.jsonl");
    // The official server's variable, which ours knows too.
    return { args: [], env: { MEMORY_FILE_PATH: place }, place };
  },
};

/** @typedef {{ content: { text?: string }[], structuredContent?: object, opening?: undefined }} Given */
/** @typedef {Given | { opening: string, structuredContent?: undefined }} Answer what is known of an official answer */
/** @typedef {{ name: string, inputSchema: { properties?: Record<string, { type?: string }>, required?: string[] } }} Tool */

/**
 * Starts a server and makes the calls; resolves with each tool's last result, without paths and times.
 *
 * @param {string} name which server it is, or is compared with
 * @param {string} bin the file that node runs
 * @returns {Promise<{ tools: Tool[], results: Record<string, Given> }>} its tools and its answers
 */
export async function ask(name, bin) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "refmcp-official-")));
  const setup = prepare[name];
  if (setup === undefined) throw new Error(`There is no server ${name} to compare.`);
  const { args, env, place, end } = await setup(folder);
  const state = { XDG_STATE_HOME: folder, XDG_DATA_HOME: folder, XDG_CACHE_HOME: folder };
  const client = new RawClient([process.execPath, bin, ...args], {
    env: { ...process.env, ...state, ...env },
  });
  try {
    await client.initialize();
    const { tools } = await client.request("tools/list");
    /** @type {Record<string, Given>} */
    const results = {};
    for (const [tool, values] of CALLS[name] ?? []) {
      const filled = JSON.parse(
        JSON.stringify(values).replaceAll("PLACE", JSON.stringify(place).slice(1, -1)),
      );
      results[tool] = withoutPlace(await client.call(tool, filled), place);
    }
    return { tools, results };
  } finally {
    await client.close();
    await end?.();
    await rm(folder, { recursive: true, force: true });
  }
}

/** @type {(result: Given, place: string) => Given} */
function withoutPlace(result, place) {
  const text = JSON.stringify(result).replaceAll(JSON.stringify(place).slice(1, -1), "PLACE");
  return JSON.parse(text.replace(/\w{3} \w{3} \d\d \d{4} [\d:]+ GMT[^"\\]*/g, "TIME"));
}

/**
 * How our answer to a call compares with the official one, in the structured content and in the text.
 *
 * @param {Answer} official a recorded result, or `{ opening }` if only its first words are known
 * @param {Given} ours
 * @returns {{ structured: string, text: string }} "same lines": all lines of the official text, and more
 */
export function compareAnswers(official, ours) {
  if (official.opening !== undefined) {
    const same = ours.content?.[0]?.text?.startsWith(official.opening) === true;
    return {
      structured: ours.structuredContent === undefined ? "none in either" : "added",
      text: same ? "same first words" : "different",
    };
  }
  return {
    structured: structured(official.structuredContent, ours.structuredContent),
    text: blocks(official.content, ours.content),
  };
}

/** @param {object | undefined} official @param {object | undefined} ours */
function structured(official, ours) {
  if (official === undefined) return ours === undefined ? "none in either" : "added";
  return ours === undefined ? "none" : shapes(official, ours);
}

/** @param {Given["content"]} official @param {Given["content"]} ours */
function blocks(official, ours) {
  const found = official.map((block, index) => oneBlock(block, ours[index]));
  if (found.includes("different")) return "different";
  if (found.includes("same lines")) return "same lines";
  return found.includes("superset") || ours.length > official.length ? "superset" : "same";
}

/** @param {{ text?: string }} official @param {{ text?: string } | undefined} ours */
function oneBlock(official, ours) {
  if (JSON.stringify(official) === JSON.stringify(ours)) return "same";
  const [there, here] = [official, ours].map((block) => asJson(block?.text));
  if (there !== undefined && here !== undefined) return shapes(there, here);
  return hasLinesOf(official?.text, ours?.text) ? "same lines" : "different";
}

/** Whether our text has every line of the official one, in any order. */
function hasLinesOf(official = "", ours = "") {
  const lines = new Set(ours.split("\n"));
  return official.split("\n").every((line) => lines.has(line));
}

/** The object or array that a text is JSON of. */
function asJson(text = "") {
  if (!/^[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Whether `ours` has all fields of `official`, of the same types. Values may differ: ids, sentences.
 *
 * @type {(official: any, ours: any) => string}
 */
function shapes(official, ours) {
  if (typeof official !== typeof ours || Array.isArray(official) !== Array.isArray(ours))
    return "different";
  if (typeof official !== "object") return "same";
  const keys = Object.keys(official);
  const found = keys.map((key) =>
    ours[key] === undefined ? "different" : shapes(official[key], ours[key]),
  );
  if (found.includes("different")) return "different";
  return found.includes("superset") || Object.keys(ours).length > keys.length ? "superset" : "same";
}
