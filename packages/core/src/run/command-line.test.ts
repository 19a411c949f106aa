import { describe, expect, expectTypeOf, it } from "vitest";
import { defineOptions } from "../define/options.ts";
import { serverOptions } from "./options.ts";
import { parseCommandLine } from "./parse-options.ts";

const options = defineOptions({
  maxReadChars: { type: "integer", default: 5, description: "D." },
  token: { type: "secret", description: "D." },
});
const files = serverOptions({ name: "filesystem", options, directories: {} });
const fetches = serverOptions({ name: "fetch", options });

function parse(
  argv: readonly string[],
  env: Record<string, string> = {},
  all: typeof files = files,
) {
  return parseCommandLine(all, { argv, env, cwd: "/work", home: "/home/me", platform: "linux" });
}

describe("parseCommandLine", () => {
  it("serves, with own and common options in one typed object", () => {
    const command = parse(["a", "--read-only", "--max-read-chars", "7"], {
      REFMCP_FILESYSTEM_CONFIRM: "never",
    });
    if (command.kind !== "serve") throw new Error(command.kind);
    expectTypeOf(command.options.maxReadChars).toEqualTypeOf<number>();
    expectTypeOf(command.options.token).toEqualTypeOf<string | undefined>();
    expectTypeOf(command.options.readOnly).toEqualTypeOf<boolean>();
    const own = { directories: ["/work/a"], clientRoots: "narrow", maxReadChars: 7 };
    const common = { readOnly: true, confirm: "never", timeoutMs: 50_000, maxAnswerChars: 20_000 };
    expect(command.options).toMatchObject({ ...own, ...common });
    expect(command.parsedOptions.warnings).toEqual([]);
    expect(
      ["directories", "confirm", "timeoutMs", "toolsets"].map(
        (key) => command.parsedOptions.sources[key],
      ),
    ).toEqual(["argument", "environment", "default", "default"]);
  });

  it("gives a server without directories none, and refuses their flags", () => {
    const command = parse([], {}, fetches);
    expect(command).toMatchObject({
      kind: "serve",
      options: { directories: [], clientRoots: "off" },
    });
    expect(parse(["--root", "/a"], {}, fetches)).toMatchObject({ kind: "error" });
    expect(parse(["--toolsets", "read"], {}, fetches)).toMatchObject({ kind: "error" });
    expect(parse(["/a"], {}, fetches)).toMatchObject({ kind: "error" });
  });

  it.each([
    [["-h"], "help"],
    [["--red-only", "--help"], "help"],
    [["--help", "--version"], "help"],
    [["--help", "http"], "http-help"],
    [["-v", "--describe"], "version"],
    [["--describe", "--red-only"], "describe"],
    [["--red-only"], "error"],
    [["--print-config", "--read-only"], "print-config"],
    [["--", "--help"], "serve"],
  ])("%j → %s", (argv, kind) => {
    expect(parse(argv).kind).toBe(kind);
  });
});
