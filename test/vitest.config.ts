import { tmpdir } from "node:os";
import { defineConfig, mergeConfig } from "vitest/config";
import shared from "../vitest.config.ts";
import { SuiteReport } from "../vitest.report.ts";
import { TASKS } from "./tasks.ts";

/** With `--mode documents`, `protocol` or `http`, the tests of that task; else all. */
export default defineConfig(({ mode }) => {
  // Clones and installations are on the disk, where pnpm can link their files to its store.
  const all = mergeConfig(shared, {
    test: { env: { TMPDIR: tmpdir() }, globalSetup: "shared-folder.ts" },
  });
  const folders = TASKS[mode];
  if (folders === undefined) return all;
  const include = folders.map((folder) => `${folder}/**/*.test.ts`);
  const reporters = ["default", new SuiteReport(`report-${mode}`)];
  return { ...all, test: { ...all.test, include, reporters } };
});
