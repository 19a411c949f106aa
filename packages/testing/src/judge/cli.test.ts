import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { filesOf, importsOf, isTest } from "../layout.ts";
import { run } from "./cli.ts";
import { RULES } from "./rules.ts";

const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));
const PLANTED = join(PACKAGE, "test", "planted", "server.mjs");
/** Two levels below the package, as the published file. */
const FOLDER = join(PACKAGE, "node_modules", ".refmcp-judge-test");
const BIN = join(FOLDER, "bin.mjs");

beforeAll(async () => {
  await mkdir(FOLDER, { recursive: true });
  await build({
    entryPoints: [join(PACKAGE, "src", "judge", "bin.ts")],
    outfile: BIN,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20.19",
    logLevel: "error",
  });
});
afterAll(() => rm(FOLDER, { recursive: true, force: true }));

interface Ending {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs refmcp-judge as a process. */
async function spawned(...args: string[]): Promise<Ending> {
  const child = spawn(process.execPath, [BIN, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code: child.exitCode, stdout, stderr };
}

/** Runs what refmcp-judge runs, in this process. */
async function command(...args: string[]): Promise<Ending> {
  const stdout: string[] = [];
  const stderr: string[] = [];
  const code = await run(args, "0.0.0", {
    stdout: (text) => void stdout.push(text),
    stderr: (text) => void stderr.push(text),
    isInteractive: false,
  });
  return { code, stdout: stdout.join(""), stderr: stderr.join("") };
}

/** Only fast rules, of a server with this defect. */
const planted = (defect: string, ...options: string[]) =>
  command("--only", "tool,request", ...options, "--", process.execPath, PLANTED, defect);

describe("exit status", () => {
  it("is 0 without findings", async () => {
    const { code, stdout, stderr } = await planted("none");
    expect(stdout).toMatch(/^planted 1\.0\.0, in 2025-11-25 and 2026-07-28\n2 tools, about/);
    expect(stdout).toMatch(/\nNo findings\.\n$/);
    expect([code, stderr]).toEqual([0, ""]);
  });

  it("is 1 with a finding of the severity of --fail-on or above", async () => {
    const { code, stdout } = await planted("tool-schema");
    expect(code).toBe(1);
    expect(stdout).toContain(
      "error tool-schema: a good server has an input schema with the type object\n",
    );
    expect(stdout).toContain("  - read_note: the input schema does not have the type object\n");
    expect(stdout).toContain(RULES["tool-schema"].why);
    expect((await planted("tool-schema", "--fail-on", "never")).code).toBe(0);
    expect((await planted("tool-title", "--fail-on", "warning")).code).toBe(0);
    expect((await planted("tool-title", "--fail-on", "note")).code).toBe(1);
  });

  it.each([
    [["--", "no-such-program-of-the-judge"], /^The server answers in neither revision\. .*ENOENT/],
    [["--", process.execPath, "--eval", ""], /^The server answers in neither revision\./],
    [["server.js"], /^server\.js is not an HTTP URL\. Put -- before the command of a server\. See/],
    [["--only", "nothing", "--", "x"], /^--only nothing is not one of rpc, /],
    [["--format", "xml", "--", "x"], /^--format xml is not one of text, json, sarif\. See/],
    [["--size", "0", "--", "x"], /^--size 0 is not a positive number\. See/],
    [["--calls", "/nowhere.json", "--", "x"], /^--calls \/nowhere\.json cannot be read as JSON/],
    [["--watch", "/nowhere", "--", "x"], /^--watch \/nowhere is not a directory\. See/],
    [["--env", "NO_SUCH_VARIABLE", "--", "x"], /^The environment has no variable NO_SUCH_VARIABLE/],
    [["--nonsense"], /^Unknown option '--nonsense'/],
    [["--size", "1"], /^Name the server to judge/],
  ])("is 2 if nothing was judged: %j", async (args, message) => {
    const { code, stdout, stderr } = await command(...args);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect([code, stdout]).toEqual([2, ""]);
  });

  it("is that of the process, whose version is the package's", async () => {
    const help = await spawned("--help");
    expect([help.code, help.stdout.split("\n")[0]]).toEqual([
      0,
      "Usage: refmcp-judge [options] -- COMMAND [ARGUMENT…]",
    ]);
    const { version } = JSON.parse(await readFile(join(PACKAGE, "package.json"), "utf8"));
    expect(await spawned("--version")).toEqual({
      code: 0,
      stdout: `refmcp-judge ${version}\n`,
      stderr: "",
    });
    expect(await spawned("--nonsense")).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("reports", () => {
  it("as JSON has every finding with its rule", async () => {
    const { stdout } = await planted("tool-schema", "--format", "json");
    const verdict = JSON.parse(stdout);
    expect(verdict.server).toEqual({ name: "planted", version: "1.0.0" });
    expect(verdict.findings[0]).toMatchObject({
      rule: "tool-schema",
      where: "read_note",
      ...RULES["tool-schema"],
    });
  });
});

it("a server that writes control characters cannot forge lines of the report", async () => {
  const { stdout } = await command(
    "--only",
    "stdout",
    "--",
    process.execPath,
    "--eval",
    `console.log("\\u001b[2J\\u202eNo findings."); process.argv[2] = "none"; import(${JSON.stringify(PLANTED)})`,
  );
  expect(stdout).toContain("  - 2025-11-25, 2026-07-28: \\u{1b}[2J\\u{202e}No findings.\n");
  expect(stdout).not.toContain("\u001b");
});

it("imports no package, so that it runs in a clone on Node.js 20, which reads no TypeScript", async () => {
  const sources = filesOf(import.meta.dirname).filter((file) => !isTest(file));
  expect(sources).toContain("bin.ts");
  for (const file of sources) {
    const imported = importsOf(await readFile(join(import.meta.dirname, file), "utf8"));
    expect(
      imported.filter((from) => !/^(?:node:|\.\/|\.\.\/portable\.ts$)/.test(from)),
      file,
    ).toEqual([]);
  }
});
