import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import type { Reporter, TestSuite } from "vitest/node";
import shared from "../../vitest.config.ts";
import { SuiteReport } from "../../vitest.report.ts";

/** Prints a line as each part, a suite that is in no other, ends, and keeps how many tests of each passed for `scripts/release-path.mjs`. */
class PartReport implements Reporter {
  readonly #started = new Map<string, number>();
  readonly #passed: Record<string, number> = {};

  onTestSuiteReady({ id }: TestSuite): void {
    this.#started.set(id, Date.now());
  }

  onTestSuiteResult(suite: TestSuite): void {
    if (suite.parent.type !== "module") return;
    const tests = [...suite.children.allTests()].map((test) => test.result().state);
    const passed = tests.filter((state) => state === "passed").length;
    this.#passed[suite.name] = passed;
    writeFileSync(".refmcp/release-parts.json", JSON.stringify(this.#passed));
    const mark = suite.ok() && passed === tests.length && passed > 0 ? "✓" : "✗";
    const seconds = Math.round((Date.now() - (this.#started.get(suite.id) ?? 0)) / 1000);
    process.stdout.write(
      `${mark} ${suite.name}: ${passed} of ${tests.length} passed (${seconds} s)\n`,
    );
  }
}

/** `npm run test:release`. */
export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  test: {
    ...shared.test,
    include: ["release-path/*.release.ts"],
    exclude: configDefaults.exclude,
    // Downloads, and where there is no binary of better-sqlite3, a compiler.
    hookTimeout: 600_000,
    env: { TMPDIR: tmpdir() },
    globalSetup: "release-path/tarballs.ts",
    // Each file starts processes and waits for them.
    maxWorkers: 2,
    reporters: [new SuiteReport("report-release"), new PartReport()],
  },
});
