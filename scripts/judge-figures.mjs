// `node scripts/judge-figures.mjs`: judges our servers and published ones, each in its newest version, and records the figures
// for docs/judge.md. Run it by hand: it downloads the published servers and takes some minutes.
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureBrowser } from "../servers/playwright/test/browser.mjs";
import { testPostgres } from "../servers/postgres/bench/lib/test-postgres.mjs";
import { FIGURES } from "./generate/judge-page.mjs";
import { command } from "./lib/bench-kit.mjs";
import { nodeProgram, npmPackages } from "./lib/npm-programs.mjs";
import { build, install, ROOT } from "./lib/setup.mjs";
import { importSource } from "./lib/sources.mjs";

await install();
await build();
const { judge, countOf } = await importSource("packages/testing/src/judge/judge.ts");
const { RULES } = await importSource("packages/testing/src/judge/rules.ts");

const folder = await mkdtemp(join(tmpdir(), "refmcp-judge-figures-"));
const files = join(folder, "files");
const repository = join(folder, "repository");
await mkdir(files);
await mkdir(repository);
await writeFile(join(files, "one.txt"), "first\n");
await command("git", ["init", "-q", repository]);
const { executablePath } = await ensureBrowser();
const postgres = await (await testPostgres()).startPostgres();
const url = await postgres.createDatabase();

/** Our servers with what they work on. @type {[name: string, args: string[]][]} */
const OURS = [
  ["fetch", []],
  ["filesystem", [files]],
  ["git", [repository]],
  ["memory", ["--file", join(folder, "memory.db")]],
  ["playwright", ["--executable-path", executablePath, "--output-dir", join(folder, "artifacts")]],
  ["postgres", ["--allow-privileged-role", url]],
  ["sqlite", [join(folder, "shop.db")]],
];

/** Published servers. @type {[name: string, entry: string, args: string[], env?: Record<string, string>][]} */
const PUBLISHED = [
  ["@modelcontextprotocol/server-everything", "dist/index.js", []],
  ["@modelcontextprotocol/server-filesystem", "dist/index.js", [files]],
  [
    "@modelcontextprotocol/server-memory",
    "dist/index.js",
    [],
    { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
  ],
  ["@modelcontextprotocol/server-sequential-thinking", "dist/index.js", []],
  ["@bytebase/dbhub", "dist/index.js", ["--transport", "stdio", "--dsn", url]],
  ["@cyanheads/git-mcp-server", "dist/index.js", [], { GIT_BASE_DIR: repository }],
  [
    "@playwright/mcp",
    "cli.js",
    ["--headless", "--isolated", "--no-sandbox", "--executable-path", executablePath],
  ],
];

/** @type {import("./generate/judge-page.mjs").Figure[]} */
const figures = [];

/** @param {string} name @param {string} version @param {string[]} program @param {Record<string, string>} [env] */
async function record(name, version, program, env = {}) {
  process.stderr.write(`${name} ${version}\n`);
  const verdict = await judge({
    target: { command: program, env, cwd: folder },
    readOnly: true,
    watch: files,
  });
  const { findings, eras, figures: measured } = verdict;
  const severe = findings.filter(
    (/** @type {{ rule: string }} */ { rule }) => RULES[rule].severity !== "note",
  );
  figures.push({
    name,
    version,
    eras,
    errors: countOf(findings, "error"),
    warnings: countOf(findings, "warning"),
    notes: countOf(findings, "note"),
    tools: measured.tools,
    tokens: measured.tokens,
    blockedMs: measured.blockedMs,
    peakMb: measured.peakMb,
    answerBytes: measured.answerBytes,
    broken: [...new Set(severe.map((/** @type {{ rule: string }} */ { rule }) => rule))].map(
      String,
    ),
  });
}

try {
  // All on the same Node.js: some of the published ones need a newer one than the oldest that we support.
  const { program } = await nodeProgram(24);
  for (const [name, args] of OURS) {
    const at = join(ROOT, "servers", name);
    const { version } = JSON.parse(await readFile(join(at, "package.json"), "utf8"));
    await record(`refmcp ${name}`, version, [program, join(at, "dist", "bin.js"), ...args]);
  }
  for (const [name, entry, args, env] of PUBLISHED) {
    const version = (await command("npm", ["view", name, "version"])).trim();
    const at = await npmPackages({ [name]: version });
    await record(name, version, [program, at(join(name, entry)), ...args], env);
  }
  await writeFile(FIGURES, `${JSON.stringify(figures, undefined, 2)}\n`);
  await command("npx", ["biome", "check", "--write", FIGURES], { cwd: ROOT });
} finally {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
