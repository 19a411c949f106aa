import { pbkdf2Sync } from "node:crypto";
import { readdirSync, readFileSync, statfsSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { SuiteReport } from "./vitest.report.ts";

/** `vitest run --mode long` runs what takes too long for each change: of a package, or of one file if it is named. */
export const isLong = /--mode[= ]long\b/.test(process.argv.join(" "));

/** The test files that ask vitest.long.ts how much to run. */
function widened(folder = "."): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : widened(path);
    const isTest = entry.isFile() && path.endsWith(".test.ts");
    return isTest && /from ".*vitest\.long\.ts"/.test(readFileSync(path, "utf8")) ? [path] : [];
  });
}

/**
 * Tests write much and keep nothing. In memory that takes half the system time; it is used where there is room, and where
 * programs may run, which Docker does not allow there.
 */
function memoryFolder(): { TMPDIR?: string } {
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
    const options =
      mounts.find((line) => line.split(" ")[1] === "/dev/shm")?.split(" ")[3] ?? "noexec";
    return options.split(",").includes("noexec") || bavail * bsize < 4e9
      ? {}
      : { TMPDIR: "/dev/shm" };
  } catch {
    return {};
  }
}

const MIN_FACTOR = 2;
const MAX_FACTOR = 5;

/**
 * How many times slower than a fast idle core this machine is right now, from 2 to 5: fixed work, timed for about a
 * second. With other suites, or endless loops, next to it, the work takes that much longer. It is never less than 2,
 * because `npm test` starts other suites while the first one runs.
 */
function slowness(): number {
  const started = performance.now();
  for (let round = 0; round < 10; round += 1) pbkdf2Sync("", "", 200_000, 32, "sha256");
  return Math.min(MAX_FACTOR, Math.max(MIN_FACTOR, (performance.now() - started) / 1_000));
}

// Only what hangs ends by it, and in `npm test` a hang is known within two minutes. What needs longer says so in its own file.
// Long tests install packages and start other systems while the load changes: they get the largest factor.
const limit = Math.round(60_000 * (isLong ? MAX_FACTOR : slowness()));

/** What all packages' tests have in common. */
export default defineConfig({
  test: {
    testTimeout: limit,
    hookTimeout: limit,
    // `expect.poll` waits for an event. It ends before its test, so that it can say what it waited for.
    expect: { poll: { timeout: limit * 0.8 } },
    include: isLong ? ["**/*.long.test.ts", "**/contract.test.ts", ...widened()] : ["**/*.test.ts"],
    alias: {
      "@refmcp/core/worker-file": fileURLToPath(new URL("vitest.worker-file.ts", import.meta.url)),
    },
    // Test files share a process and its modules: loading them again for every file took a quarter of the time. A helper's
    // hooks therefore belong in a function or in a setup file; at the top of the helper they would be set only once.
    isolate: false,
    setupFiles: [fileURLToPath(new URL("vitest.setup.ts", import.meta.url))],
    exclude: [...configDefaults.exclude, "**/dist/**", ...(isLong ? [] : ["**/*.long.test.ts"])],
    env: {
      REFMCP_LONG: isLong ? "1" : "",
      REFMCP_CONTRACT: isLong ? "stdio" : "memory",
      ...memoryFolder(),
    },
    // `npm test` reads the report.
    reporters: ["default", new SuiteReport(isLong ? "report-long" : "report")],
  },
});
