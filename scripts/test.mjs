// `npm test`: installs what the tests need, then runs them all and prints one closing line.
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { build, install, packageFolders, ROOT, turbo } from "./lib/setup.mjs";

await install();
await build();
// Each suite starts processes of its own and waits for them a good part of the time: one suite more than cores.
const atOnce = `--concurrency=${availableParallelism() + 1}`;
const code = await turbo(["run", "typecheck", "test", "--continue", atOnce, ...process.argv.slice(2)]);

let passed = 0;
const failures = [];
for (const folder of await packageFolders()) {
  const report = await readFile(join(ROOT, folder, ".refmcp", "report.json"), "utf8").catch(() => undefined);
  if (report === undefined) continue;
  const { numPassedTests, testResults } = JSON.parse(report);
  passed += numPassedTests;
  failures.push(...testResults.flatMap((suite) => failuresOf(folder, suite)));
}
if (failures.length > 0) process.stdout.write(`\n${failures.join("\n")}\n`);
process.stdout.write(`\n${passed} passed, ${failures.length} failed\n`);
process.exit(code);

/** The failed tests of one file of vitest's report: file, name and the first lines of the reason. */
function failuresOf(folder, suite) {
  const file = relative(ROOT, suite.name);
  const failed = suite.assertionResults.filter(({ status }) => status === "failed");
  // Not loaded, or its set-up failed.
  if (failed.length === 0 && suite.status === "failed")
    return [`✗ ${file || folder}: does not run\n${opening(suite.message)}`];
  return failed.map(
    ({ fullName, failureMessages }) => `✗ ${file}: ${fullName}\n${opening(failureMessages.join("\n"))}`,
  );
}

/** @param {string} text */
function opening(text) {
  return text
    .split("\n")
    .slice(0, 12)
    .map((line) => `    ${line}`)
    .join("\n");
}
