import { describe, expect, it } from "vitest";
import { defineOptions } from "../define/options.ts";
import { nearCommand } from "./near-command.ts";
import { serverOptions } from "./options.ts";

const options = defineOptions({ browser: { type: "string", description: "D." } });
const all = serverOptions({ name: "probe", options, directories: {} });
const near = (argv: string[], existing: string[] = []) =>
  nearCommand(all, argv, async (word) => existing.includes(word));

describe("nearCommand", () => {
  it.each([
    [["help"], "help", "--help"],
    [["--read-only", "help"], "help", "--help"],
    [["list-tools"], "list-tools", "tools"],
    [["toosl"], "toosl", "tools"],
    [["cal", "git_log"], "cal", "call"],
    [["print-config"], "print-config", "--print-config"],
  ])("%j", async (argv, word, meant) => {
    expect(await near(argv)).toEqual({ word, meant });
  });

  it.each([
    [["./help"]],
    [["/srv/help"]],
    [["project"]],
    [["--browser", "help"]],
    [["--browser=cal"]],
    [[]],
  ])("%j is none", async (argv) => {
    expect(await near(argv)).toBeUndefined();
  });

  it("takes an existing directory for a directory", async () => {
    expect(await near(["help"], ["help"])).toBeUndefined();
  });
});
