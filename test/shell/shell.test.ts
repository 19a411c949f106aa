import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bundle, bundleProbe } from "../bundle.ts";
import { serverBin } from "../servers.ts";

interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

/** Runs a built server with these words in a directory, with `input` as its stdin. */
function shell(
  file: string,
  words: readonly string[],
  { cwd = tmpdir(), input = "" } = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [file, ...words], { cwd }, (_error, stdout, stderr) =>
      resolve({ stdout, stderr, code: child.exitCode }),
    );
    child.stdin?.end(input);
  });
}

/** The probe server in one file, for a file of tests. */
function useProbe(): () => Bundle {
  let probe: Bundle;
  beforeAll(async () => {
    probe = await bundleProbe();
  });
  afterAll(() => probe?.remove());
  return () => probe;
}

const probe = useProbe();

describe("call", () => {
  it.each([
    [["probe_echo", "text=ab", "times=2", "tone=loud"], "ABAB\n"],
    [["probe_echo", '{"text":"a=b"}'], "a=b\n"],
    [["probe_count", "by=3"], '{\n  "count": 3,\n  "inner": {\n    "kept": true\n  }\n}\n'],
  ])("%j prints the tool's text on stdout", async (words, stdout) => {
    expect(await shell(probe().file, ["call", ...words])).toEqual({ stdout, stderr: "", code: 0 });
  });

  it("reads the arguments from stdin, and prints the full result as JSON", async () => {
    const ended = await shell(probe().file, ["call", "probe_count", "-", "--json"], {
      input: '{"by": 2}',
    });
    expect(JSON.parse(ended.stdout)).toMatchObject({ structuredContent: { count: 2 } });
  });

  it.each([
    [["call", "probe_fail", "how=error"], 1, "There is no such thing.\nMake one.\n"],
    [["call", "probe_echo", "text=a", "times=9"], 1, "times: expected at most 5, got 9."],
    [["call", "probe_echo", "txt=a"], 1, 'unknown argument "txt". Did you mean text?'],
    [["call", "probe_echo"], 1, "text: expected a string, got nothing."],
    [
      ["call", "probe_eco"],
      2,
      'Unknown tool "probe_eco" in this command. Did you mean probe_echo?',
    ],
    [["call", "probe_count", "-"], 2, "No JSON object in stdin: write name=value"],
    [["--http", "0", "tools"], 2, "--http runs until stopped"],
  ])("%j prints the error on stderr, and exits with %i", async (words, code, message) => {
    const ended = await shell(probe().file, words);
    expect(ended).toMatchObject({ stdout: "", code });
    expect(ended.stderr).toContain(message);
  });

  it("shows its help, and how it was started", async () => {
    const [help, word, call] = await Promise.all([
      shell(probe().file, ["--help"]),
      shell(probe().file, ["help"]),
      shell(probe().file, ["call", "--help"]),
    ]);
    expect(word).toEqual(help);
    // Relative to the working directory, which is above it.
    const started = `node ${relative(tmpdir(), probe().file)}`;
    expect(help.stdout).toContain(`Usage: ${started} [options]`);
    expect(call).toMatchObject({ stderr: "", code: 0 });
    expect(call.stdout).toContain(`Usage: ${started} call TOOL`);
  });

  it("accepts the server's options before the command", async () => {
    const ended = await shell(probe().file, ["--allow-write", "call", "probe_write", "--help"]);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain("call probe_write");
  });

  it("writes the audit log", async () => {
    const ended = await shell(probe().file, ["--audit-log", "-", "call", "probe_count"]);
    expect(JSON.parse(ended.stderr)).toMatchObject({ tool: "probe_count", outcome: "ok" });
  });

  it("refuses what only the user may confirm", async () => {
    const alone = await shell(probe().file, ["call", "probe_wipe"]);
    expect(alone).toMatchObject({ stdout: "", code: 1 });
    expect(alone.stderr).toContain("needs the user's confirmation");
  });

  it("shows the progress of a long call as lines on stderr", async () => {
    const ended = await shell(probe().file, ["call", "probe_slow", "ms=3000"]);
    expect(ended).toMatchObject({ stdout: "waited\n", code: 0 });
  });
});

describe("on a terminal", () => {
  /** A command on a separate terminal. */
  const onTerminal = (words: string, input: "ignore" | "pipe" = "ignore") =>
    spawn("script", ["-qec", `${process.execPath} ${probe().file} ${words}`, "/dev/null"], {
      stdio: [input, "pipe", "ignore"],
    });

  it("says what a server waits for that is started by hand, and not to a host", async (ctx) => {
    const byHost = await shell(probe().file, []);
    expect(byHost.stderr).toBe("");
    if (process.platform !== "linux") return ctx.skip("needs script(1) of util-linux");
    const terminal = onTerminal("", "pipe");
    let seen = "";
    terminal.stdout?.on("data", (data) => {
      seen += data;
      // Ctrl+D ends its input.
      if (seen.includes("\n")) terminal.stdin?.write("\u0004");
    });
    await new Promise((resolve) => terminal.on("close", resolve));
    expect(seen).toContain("waits for an MCP client on stdin, as a host starts it.");
    expect(seen).toContain(`node ${probe().file} tools, call TOOL or --help`);
  });
});

describe("text from outside", () => {
  const hidden = "\u001b[31m\u001b]0;title\u0007\u009b2J\u202e\u{e0041}";
  const escaped = "\\u{1b}[31m\\u{1b}]0;title\\u{7}\\u{9b}2J\\u{202e}\\u{e0041}";
  const json = JSON.stringify({ text: hidden });

  it("reaches a file or a pipe unchanged", async () => {
    const { stdout } = await shell(probe().file, ["call", "probe_echo", json]);
    expect(stdout).toBe(`${hidden}\n`);
  });

  it("reaches a terminal escaped: from tools and errors", async (ctx) => {
    if (process.platform !== "linux") return ctx.skip("needs script(1) of util-linux");
    const folder = mkdtempSync(join(tmpdir(), "refmcp-shell-"));
    try {
      writeFileSync(join(folder, "a.txt"), `${hidden}\ntwo\n`);
      const onTerminal = (file: string, ...words: string[]) =>
        text(
          spawn("script", ["-qec", `${process.execPath} ${file} ${words.join(" ")}`, "/dev/null"], {
            cwd: folder,
            stdio: ["ignore", "pipe", "ignore"],
          }).stdout,
        );
      const files = serverBin("filesystem");
      const seen = await Promise.all([
        onTerminal(probe().file, "call", "probe_echo", `'${json}'`),
        onTerminal(probe().file, "call", "probe_echo", "--json", `'${json}'`),
        onTerminal(files, "call", "read_text_file", "path=a.txt"),
        onTerminal(files, "call", "read_text_file", `'path=${hidden}'`),
      ]);
      for (const output of seen) expect(output).toMatch(/^[\t\r\n -~]+$/);
      expect(seen[0]).toBe(`${escaped}\r\n`);
      expect(JSON.parse(seen[1] ?? "")).toMatchObject({ content: [{ text: hidden }] });
      expect(seen[2]).toContain(`${escaped}\r\ntwo\r\n`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

it("the help of fetch fits on two screens of 42 lines", async () => {
  const { stdout } = await shell(serverBin("fetch"), ["--help"]);
  expect(stdout.split("\n").length).toBeLessThanOrEqual(84);
});

describe("the filesystem server in a shell", () => {
  it("lists its tools and shows the arguments of each", async () => {
    const listed = await shell(serverBin("filesystem"), ["tools", "--json"]);
    const names = JSON.parse(listed.stdout).map(({ name }: { name: string }) => name);
    expect(names).toContain("read_text_file");
    const help = await shell(serverBin("filesystem"), ["tools", "read_text_file"]);
    expect(help.stdout).toContain("call read_text_file");
  });

  it("stays below the working directory if none is given", async () => {
    const folder = mkdtempSync(join(tmpdir(), "refmcp-shell-"));
    try {
      writeFileSync(join(folder, "a.txt"), "found\n");
      const read = (path: string) =>
        shell(serverBin("filesystem"), ["call", "read_text_file", `path=${path}`], { cwd: folder });
      expect((await read("a.txt")).stdout).toContain("found");
      expect(await read("/etc/hostname")).toMatchObject({ stdout: "", code: 1 });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
