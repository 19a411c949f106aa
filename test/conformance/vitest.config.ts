import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** `pnpm conformance`: the official programs, which come from the npm registry, and a Node.js for them. */
export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  test: {
    include: ["conformance/**/*.suite.ts"],
    // Only what hangs should end by these; the first run downloads the programs.
    testTimeout: 180_000,
    hookTimeout: 600_000,
  },
});
