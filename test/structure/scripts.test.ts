import { execFile } from "node:child_process";
import { join, posix } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { countCode } from "../../scripts/lib/count.mjs";
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

describe("lines of code", () => {
  it.each([
    ["comments and blank lines", "// a\n\n/* b\n c */\nconst d = 1; // e\n /** f */\n", 1],
    ["text that looks like a comment", 'f("// a"); f(`\n// b\n/* c`);\nf(/\\/\\/[/*]/);', 4],
    ["a comment in a template's expression", `\`\${ // a\n{ b: \`}\` } /* c */\n} //\`\n// d`, 3],
    ["a division", "a = b / c; // d / e\n// f", 1],
  ])("do not include %s", (_, source, lines) => {
    expect(countCode(source, "ts").lines).toBe(lines);
  });

  it("are counted in SQL and style sheets, too", () => {
    expect(countCode("-- a\nSELECT '--b\n'; /* c */\n", "sql")).toEqual({
      lines: 2,
      characters: 13,
    });
    expect(countCode("/* a\n*/\na {\n  b: url(//c);\n}\n", "css").lines).toBe(3);
  });
});
