import { describe, expect, it } from "vitest";
import { shell, useProbe } from "./shell.ts";

const probe = useProbe();

describe("call", () => {
  it.each([
    [["probe_say", "text=ab"], "ab\n"],
    [["probe_echo", "text=7"], "7\n"],
    [["probe_link"], "See it.\nprobe://count  count\n"],
  ])("%j prints the tool's text on stdout", async (words, stdout) => {
    expect(await shell(probe().file, ["call", ...words])).toEqual({ stdout, stderr: "", code: 0 });
  });

  it.each([
    [["call", "probe_echo", "a"], 2, 'Unexpected argument "a"'],
    [["call", "probe_echo", "[1]"], 2, 'Unexpected argument "[1]"'],
    [["call", "probe_write"], 2, 'Unknown tool "probe_write"'],
    [["call"], 2, "call TOOL [name=value"],
    [["--oops", "tools"], 2, "Unknown option --oops."],
  ])("%j prints the error on stderr, and exits with %i", async (words, code, message) => {
    const ended = await shell(probe().file, words);
    expect(ended).toMatchObject({ stdout: "", code });
    expect(ended.stderr).toContain(message);
  });
});
