import { describe, expect, it } from "vitest";
import { message, place } from "../../test/fixtures/options.ts";
import { defineOptions } from "../define/options.ts";
import { parseOptions } from "./parse-options.ts";

describe("mistakes", () => {
  it.each([
    [["--red-only"], "Unknown option --red-only. Did you mean --read-only?"],
    [["--bad\u001b[31m"], "Unknown option --bad\\u001b[31m. See --help for all options."],
    [["--timeout-ms"], "Option --timeout-ms needs a value: --timeout-ms=N."],
    [["--tools", ","], "Option --tools needs a value, but is empty."],
    [["--timeout-ms", "5"], 'Option --timeout-ms is "5"; it takes an integer (100 to 5,000).'],
    [
      ["--confirm", "nevr"],
      'Option --confirm is "nevr"; it takes one of ask, never. Did you mean never?',
    ],
    [
      ["--proxy-url", "localhost:80"],
      'Option --proxy-url is "localhost:80"; it takes a URL that begins with http:// or https://.',
    ],
    [
      ["--user-agent", "a\nb"],
      'Option --user-agent is "a\\nb"; it takes text without line breaks.',
    ],
    [
      ["--timeout-ms=200", "--timeout-ms=300"],
      "Option --timeout-ms takes one value, but got 2 different ones.",
    ],
    [["--db", "a=1", "--db", "a=2"], "Option --db has a name twice."],
  ])("%j", (argv, expected) => {
    expect(message(argv)).toBe(expected);
  });
});

describe("secrets", () => {
  const secret = "hunter2-hunter2-hunter2";

  it.each([
    [
      ["--token", secret],
      {},
      "Option --token takes at most 20 characters, not …; the value given is not shown.",
    ],
    [["--token", "-hunter2"], {}, "Option --token needs a value: --token=SECRET."],
    [["--tokn=hunter2"], {}, "Unknown option --tokn. Did you mean --token?"],
    [["-phunter2"], {}, "Unknown option -p. See --help for all options."],
    [
      [],
      { REFMCP_FILE_SYSTEM_DB: "hunter2" },
      "Environment variable REFMCP_FILE_SYSTEM_DB takes NAME=VALUE; the value given is not shown.",
    ],
    [
      ["--proxy-url", "ftp://me:hunter2@proxy.example"],
      {},
      'Option --proxy-url is "ftp://…@proxy.example"; it takes a URL that begins with http:// or https://.',
    ],
  ])("never appear: %j %j", (argv, env, expected) => {
    const text = message(argv, env);
    expect(text).toBe(expected);
    expect(text).not.toContain("hunter2");
  });

  it("do not appear in the error for an argument that may be part of them", () => {
    const own = defineOptions({ header: { type: "secret", named: "repeated", description: "D." } });
    const argv = ["--header", "host=X-Key:", "hunter2"];
    expect(parseOptions("fetch", own, { ...place, argv, env: {} })).toEqual({
      ok: false,
      message:
        "Unexpected argument after --header, not shown because it may be part of the secret. Quote values that contain spaces.",
    });
  });
});
