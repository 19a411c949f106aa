import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { serverBin } from "../servers.ts";
import { shell, useProbe } from "./shell.ts";

const probe = useProbe();

describe("call", () => {
  it.each([
    [["probe_say", "ab"], "ab\n"],
    [["probe_echo", "--text", "7"], "7\n"],
    [["probe_link"], "See it.\nprobe://count  count\n"],
  ])("%j prints the tool's text on stdout", async (words, stdout) => {
    expect(await shell(probe().file, ["call", ...words])).toEqual({ stdout, stderr: "", code: 0 });
  });

  it.each([
    [["call", "probe_echo", "--text"], 2, "--text needs a value."],
    [["call", "probe_echo", "a", "b"], 2, 'Unexpected argument "b"'],
    [["call", "probe_echo", "--args", "[1]"], 2, "--args takes a JSON object"],
    [["call", "probe_echo", "a", "--format", "xml"], 2, "probe_echo has no argument --format."],
    [["toosl"], 2, " tools? For a directory of that name, write ./toosl."],
    [["call", "probe_write"], 2, 'Unknown tool "probe_write"'],
    [["call"], 2, "call needs a tool"],
    [["--oops", "tools"], 2, "Unknown option --oops."],
  ])("%j prints the error on stderr, and exits with %i", async (words, code, message) => {
    const ended = await shell(probe().file, words);
    expect(ended).toMatchObject({ stdout: "", code });
    expect(ended.stderr).toContain(message);
  });
});

describe("on a terminal", () => {
  /** A command on a separate terminal. */
  const onTerminal = (words: string, input: "ignore" | "pipe" = "ignore") =>
    spawn("script", ["-qec", `${process.execPath} ${probe().file} ${words}`, "/dev/null"], {
      stdio: [input, "pipe", "ignore"],
    });

  it("shows the progress of a long call, and removes it before the answer", async (ctx) => {
    if (process.platform !== "linux") return ctx.skip("needs script(1) of util-linux");
    const seen = await text(onTerminal("call probe_slow --ms 2000").stdout ?? process.stdin);
    expect(seen).toContain("\r\u001b[K1 of 2 half\r\u001b[K");
  });
});

describe("--print-config", () => {
  it.each([
    [[], "Warning: this entry has no directory, so the server can only use the folders"],
    [
      ["/path/to/your/project"],
      "Warning: /path/to/your/project is a placeholder. Use the path of your own directory.",
    ],
    [["/nonexistent-refmcp"], "Warning: /nonexistent-refmcp does not exist."],
  ])("warns about %j", async (words, warning) => {
    const { stdout, stderr, code } = await shell(serverBin("filesystem"), [
      ...words,
      "--print-config",
    ]);
    expect(stderr.split("\n")[0]).toContain(warning);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toHaveProperty("mcpServers.filesystem");
  });

  it("does not warn about a directory that exists, nor of one that the server does not need", async () => {
    const [given, optional] = await Promise.all([
      shell(serverBin("filesystem"), [tmpdir(), "--print-config"]),
      shell(serverBin("memory"), ["--print-config"]),
    ]);
    expect(given.stderr).toMatch(/^Add this /);
    expect(optional.stderr).toMatch(/^Add this /);
  });
});
