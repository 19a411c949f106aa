import { execFile } from "node:child_process";
import { join, posix } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { ROOT } from "../servers.ts";
import { benchProblems, filesOf } from "./layout.ts";

const execute = promisify(execFile);
const CONFIG = "scripts/tsconfig.json";
/** Templates are checked as parts of the server that they make; the drivers' packages are not in the workspace. */
const UNCHECKED = /^(?:scripts\/templates|test\/clients\/drivers)\//;

it("every module in test/bench is a benchmark; shared code is in bench/lib", () => {
  const folder = join(ROOT, "test", "bench");
  expect(filesOf(folder)).not.toEqual([]);
  expect(benchProblems(folder)).toEqual([]);
});

it("the types of every script, benchmark and demo are checked", async () => {
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const config = await execute(process.execPath, [tsc, "--showConfig", "-p", CONFIG], {
    cwd: ROOT,
  });
  const { files }: { files: string[] } = JSON.parse(config.stdout);
  const checked = new Set(files.map((file) => posix.join("scripts", file)));
  const known = ["ls-files", "--cached", "--others", "--exclude-standard", "*.mjs"];
  const { stdout } = await execute("git", known, { cwd: ROOT });
  const modules = stdout.split("\n").filter((file) => file !== "" && !UNCHECKED.test(file));
  expect(modules).toContain("scripts/test.mjs");
  expect(
    modules.filter((file) => !checked.has(file)),
    `Add it to ${CONFIG}`,
  ).toEqual([]);
});
