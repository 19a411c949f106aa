import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** `pnpm evals`: a model, with a key, does the tasks of every server. */
export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  test: { include: ["evals/**/*.eval.ts"], testTimeout: 600_000, fileParallelism: false },
});
