// `npm test`: installs what the tests need, then runs them all and prints one closing line.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { build, install, packageFolders, ROOT, turbo } from "./lib/setup.mjs";

await install();
await build();
// Each suite starts processes of its own and uses all cores; more suites at once only make them wait for each other.
const two = "--concurrency=2";
const code = await turbo(["run", "typecheck", "test", "--continue", two, ...process.argv.slice(2)]);

let passed = 0;
let failed = 0;
for (const folder of await packageFolders()) {
  const report = await readFile(join(ROOT, folder, ".refmcp", "report.json"), "utf8").catch(() => undefined);
  if (report === undefined) continue;
  const { numPassedTests, numFailedTests, numFailedTestSuites } = JSON.parse(report);
  passed += numPassedTests;
  // A suite that fails to load has no test to count.
  failed += Math.max(numFailedTests, numFailedTestSuites);
}
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exit(code);
