import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import shared from "../../vitest.config.ts";
import { SuiteReport } from "../../vitest.report.ts";
import { PartReport } from "./report.ts";

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
