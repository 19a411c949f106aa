// `npm run test:release`: what a user gets, end to end. The packed packages install into an empty folder and answer on Node.js 20
// and 24; the official conformance suite passes on a server built on core and on a real one; a client of each generation of the
// SDK works. A part that is missing, or a test that is skipped, is a failure. `.ci/run` runs it after `npm test`. None of these
// tests is in `npm run test:all`.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT, runVitest } from "./lib/setup.mjs";

const PARTS = [
  "the packed packages on Node.js 20",
  "the packed packages on Node.js 24",
  "the official suite and a server built on core",
  "the official suite and the filesystem server",
  "the client of SDK v1",
  "the client of SDK v2",
];
const REPORT = join(ROOT, "test", ".refmcp", "report-release.json");
const PASSED = join(ROOT, "test", ".refmcp", "release-parts.json");

for (const file of [REPORT, PASSED]) rmSync(file, { force: true });
const code = await runVitest(["--config", "release-path/vitest.config.ts"]);
/** @type {import("../vitest.report.ts").Report} */
const { passed, failed, skipped } = readJson(REPORT) ?? { passed: 0, failed: [], skipped: [] };
const failures = failed.map(({ file, name, reason }) => ({ what: `${file}: ${name}`, reason }));
for (const { file, name, reason } of skipped)
  failures.push({ what: `${file}: ${name}`, reason: `was skipped: ${reason}` });
const done = readJson(PASSED) ?? {};
for (const part of PARTS)
  if (!done[part]) failures.push({ what: part, reason: "no test of it passed" });
if (code !== 0 && failures.length === 0)
  failures.push({ what: "vitest", reason: `ended with exit code ${code}` });

for (const { what, reason } of failures)
  process.stdout.write(`\n✗ ${what}\n${reason.replaceAll(/^/gm, "    ")}\n`);
const counts = [`${passed} passed`, `${failures.length} failed`];
if (skipped.length > 0) counts.push(`${skipped.length} skipped`);
process.stdout.write(`\n${counts.join(", ")}\n`);
process.exitCode = failures.length === 0 ? 0 : 1;

/** Parses a JSON file; undefined if it is missing. @param {string} path */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}
