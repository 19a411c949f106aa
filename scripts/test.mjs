// `npm test`: installs what the tests need, checks the types, runs every suite and ends with one line of counts.
// `npm run test:all` (`--all`) also runs the long suites. With `--no-system-packages` no test installs any. All other
// arguments go to turbo: `npm test -- --filter=@refmcp/server-git`.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { build, install, ROOT, turboQuietly } from "./lib/setup.mjs";

// setup.mjs has already removed --no-system-packages.
const argv = process.argv.slice(2);
const forTurbo = argv.filter((argument) => argument !== "--all");
const TASKS = ["typecheck", "test", "test:documents", "test:protocol", "test:http"];
if (argv.includes("--all")) TASKS.push("test:long");

/** @typedef {import("../vitest.report.ts").Report} Report */
/** @typedef {{ id: string, task: string, directory: string, isCached: boolean, report: string, progress: string, result?: Report }} Suite */

// One more than cores, because suites also wait. With more, tests of time limits fail on slow machines.
const ATONCE = availableParallelism() + 1;
// CI on Linux has what the tests need, except perhaps root. There, what did not run is a failure; elsewhere the reason is enough.
const isGate = Boolean(process.env.CI) && process.platform === "linux";
// The long suites that mostly wait have a separate run of turbo, one after the other. In the run of the others they would
// begin last, and leave a core idle at the end.
const WAITING = ["@refmcp/server-playwright#test", "@refmcp/server-postgres#test"];
const PROGRESS_MS = 30_000;
const LOOK_MS = 1_000;
let lastLine = Date.now();

await install();
await build();
const run = ["run", ...TASKS, ...forTurbo];
const planned = await plan();
const suites = planned.filter(({ task }) => task !== "typecheck");
for (const { report, progress } of suites)
  for (const file of [report, progress]) rmSync(file, { force: true });
const waiting = suites.filter(({ isCached }) => !isCached);
say(
  waiting.length === 0
    ? `${count(suites.length, "suite")}, nothing changed since ${suites.length === 1 ? "it" : "they"} passed.`
    : `${count(waiting.length, "suite")} to run on ${count(availableParallelism(), "core")}.`,
);

const look = setInterval(() => {
  showEnded();
  if (Date.now() - lastLine >= PROGRESS_MS) showProgress();
}, LOOK_MS);
const started = Date.now();
const { code, output } = await runPlanned();
clearInterval(look);
showEnded();

const exitCodes = await exitCodesSince(started);
const reports = suites.flatMap(({ result }) => result ?? []);
const passed = reports.reduce((sum, report) => sum + report.passed, 0);
const skipped = reports.flatMap((report) => report.skipped);
const failed = reports.flatMap((report) => report.failed);
for (const { id, directory, task, result } of planned) {
  if ((exitCodes.get(id) ?? 0) === 0) continue;
  // A report has the reasons, unless the suite ended before it could write one.
  if (result !== undefined && result.failed.length > 0) continue;
  const log = join(ROOT, directory, ".turbo", `turbo-${task.replace(":", "$colon$")}.log`);
  failed.push({
    file: directory,
    name: task,
    reason: lastLines(existsSync(log) ? readFileSync(log, "utf8") : output),
  });
}
for (const { id, directory, task, result } of suites) {
  if (failed.some(({ file }) => file === directory || file.startsWith(`${directory}/`))) continue;
  if (result === undefined || result.passed === 0)
    failed.push({ file: directory, name: task, reason: `${id} passed no test: it did not run.` });
}
if (isGate) failed.push(...filesNotRun());
if (code !== 0 && failed.length === 0)
  failed.push({ file: "turbo", name: run.join(" "), reason: lastLines(output) });

if (skipped.length > 0) say("");
for (const reason of new Set(skipped.map((task) => task.reason))) {
  const alike = skipped.filter((task) => task.reason === reason);
  const files = [...new Set(alike.map(({ file }) => file))].join(", ");
  const what =
    alike.length === 1
      ? `${files}: ${alike[0]?.name}`
      : `${count(alike.length, "test")} of ${files}`;
  say(`- skipped: ${what}: ${reason}`);
}
for (const { file, name, reason } of failed) say(`\n✗ ${file}: ${name}\n${indented(reason)}`);
const counts = [`${passed} passed`, `${failed.length} failed`];
if (skipped.length > 0) counts.push(`${skipped.length} skipped`);
say(`\n${counts.join(", ")}`);
process.exitCode = failed.length === 0 ? 0 : 1;

/**
 * In the gate, a file whose tests were all skipped is a failure, unless they need root. Long tests may also need material that a
 * machine lacks, such as a checkout of another project: those are counted.
 */
function filesNotRun() {
  const ran = new Set(reports.flatMap(({ files }) => files));
  const isExcused = (/** @type {{ file: string, reason: string }} */ { file, reason }) =>
    ran.has(file) || reason === "needs root";
  const entries = suites
    .filter(({ task }) => task !== "test:long")
    .flatMap(({ result }) => result?.skipped ?? [])
    .filter((entry) => !isExcused(entry));
  return [...new Map(entries.map((entry) => [entry.file, entry])).values()].map(
    ({ file, reason }) => ({ file, name: "(the file)", reason: `did not run: ${reason}` }),
  );
}

/** Runs the planned tasks: those that mostly wait next to all others. */
async function runPlanned() {
  const isWaiting = (/** @type {Suite} */ { id }) => WAITING.some((suite) => id.startsWith(suite));
  const options = forTurbo.filter((argument) => !argument.startsWith("--filter"));
  const runs = [
    { tasks: planned.filter(isWaiting), atOnce: 1 },
    { tasks: planned.filter((suite) => !isWaiting(suite)), atOnce: ATONCE - 1 },
  ]
    .filter(({ tasks }) => tasks.length > 0)
    .map(({ tasks, atOnce }) =>
      turboQuietly([
        "run",
        ...tasks.map(({ id }) => id),
        `--concurrency=${atOnce}`,
        ...options,
        "--continue",
        "--output-logs=none",
        "--summarize",
      ]),
    );
  const results = await Promise.all(runs);
  return {
    code: Math.max(...results.map((result) => result.code)),
    output: results.map((result) => result.output).join("\n"),
  };
}

/** What turbo will do: the tasks that exist, and whether their last result is still valid. @returns {Promise<Suite[]>} */
async function plan() {
  const { code: failure, output: text, stdout } = await turboQuietly([...run, "--dry=json"]);
  if (failure !== 0) {
    process.stderr.write(text);
    process.exit(failure);
  }
  /** @type {{ tasks: { taskId: string, task: string, directory: string, command: string, cache: { status: string } }[] }} */
  const { tasks } = JSON.parse(stdout);
  return tasks
    .filter(({ task, command }) => TASKS.includes(task) && command !== "<NONEXISTENT>")
    .map(({ taskId: id, task, directory, cache }) => {
      const file = join(
        ROOT,
        directory,
        ".refmcp",
        task.replace(/^test/, "report").replace(":", "-"),
      );
      const isCached = cache.status === "HIT";
      return {
        id,
        task,
        directory,
        isCached,
        report: `${file}.json`,
        progress: `${file}.progress.json`,
      };
    });
}

/** The exit codes of the tasks, from the summary that turbo wrote. @param {number} time */
async function exitCodesSince(time) {
  const folder = join(ROOT, ".turbo", "runs");
  /** @type {Map<string, number | undefined>} */
  const codes = new Map();
  for (const file of existsSync(folder) ? await readdir(folder) : []) {
    const path = join(folder, file);
    if ((await stat(path)).mtimeMs < time) continue;
    for (const { taskId, execution } of readJson(path).tasks)
      codes.set(taskId, execution?.exitCode);
    rmSync(path);
  }
  return codes;
}

/** A line for each suite whose report has appeared. */
function showEnded() {
  for (const suite of suites) {
    if (suite.result !== undefined) continue;
    suite.result = readJson(suite.report);
    if (suite.result === undefined) continue;
    const { passed, failed, skipped, seconds } = suite.result;
    const parts = [`${passed} passed`];
    if (failed.length > 0) parts.push(`${failed.length} failed`);
    if (skipped.length > 0) parts.push(`${skipped.length} skipped`);
    const time = suite.isCached ? "unchanged since it passed" : minutes(seconds);
    say(`${failed.length === 0 ? "✓" : "✗"} ${nameOf(suite)}: ${parts.join(", ")} (${time})`);
  }
}

function showProgress() {
  const running = suites.flatMap((suite) => {
    const at = suite.result === undefined ? readJson(suite.progress) : undefined;
    return at === undefined ? [] : `${nameOf(suite)} ${at.done} of ${count(at.files, "file")}`;
  });
  say(`  ${minutes((Date.now() - started) / 1000)}: ${running.join(" · ") || "checking types"}`);
}

/** @param {Suite} suite */
function nameOf({ directory, task }) {
  return task === "test" ? directory : `${directory} (${task.replace("test:", "")})`;
}

/** Parses a JSON file; undefined if it is missing or currently being written. @param {string} path */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

/** @param {number} seconds */
function minutes(seconds) {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** @param {number} number @param {string} noun */
function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** The end of a task's log, without pnpm's own output. @param {string} text */
function lastLines(text) {
  const lines = stripVTControlCharacters(text).split("\n");
  return lines
    .filter((line) => line.trim() !== "" && !/^(> | ELIFECYCLE )/.test(line))
    .slice(-40)
    .join("\n");
}

/** @param {string} text */
function indented(text) {
  return text.replaceAll(/^/gm, "    ");
}

/** @param {string} line */
function say(line) {
  lastLine = Date.now();
  process.stdout.write(`${line}\n`);
}
