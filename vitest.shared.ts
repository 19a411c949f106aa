import { defineConfig } from "vitest/config";

/** What all packages' tests have in common. `npm test` reads the JSON reports for its closing line. */
export default defineConfig({
  test: {
    // Only what hangs should end by these; a busy machine is slow.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    include: ["**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    reporters: ["default", "json"],
    outputFile: { json: ".refmcp/report.json" },
  },
});
