import { describe, expect, it } from "vitest";
import { message, parse, values } from "../../test/fixtures/options.ts";

describe("arguments", () => {
  it.each([
    [["--timeout-ms", "200"], { timeoutMs: 200 }],
    [["--depth", "-5"], { depth: -5 }],
    [["--read-only=false"], { readOnly: false }],
    [["--no-journal"], { journal: false }],
    [["--confirm", "never"], { confirm: "never" }],
    [["--tools", "a, b,,b"], { tools: ["a", "b"] }],
    [["--ignore", "*.{js,ts}", "--ignore", "dist"], { ignore: ["*.{js,ts}", "dist"] }],
    [["--token=-abc"], { token: "-abc" }],
    [["--db", "a=b://u:p@h/d?c=d"], { db: [{ name: "a", value: "b://u:p@h/d?c=d" }] }],
    [
      ["--header", "a.example=X-One: 1", "--header", "a.example=X-Two: 2"],
      {
        header: [
          { name: "a.example", value: "X-One: 1" },
          { name: "a.example", value: "X-Two: 2" },
        ],
      },
    ],
  ])("%j", (argv, expected) => {
    expect(values(argv)).toMatchObject(expected);
  });

  it("takes positionals from anywhere and everything after --", () => {
    expect(values(["a", "--read-only", "b", "--root", "c", "--", "--d", "-e"])).toMatchObject({
      directories: ["a", "b", "c", "--d", "-e"].map((name) => `/home/me/work/${name}`),
      readOnly: true,
    });
  });
});

describe("environment", () => {
  it.each([
    [{ REFMCP_FILE_SYSTEM_READ_ONLY: "false" }, { readOnly: false }],
    [{ REFMCP_FILE_SYSTEM_TIMEOUT_MS: " 300 " }, { timeoutMs: 300 }],
    [{ REFMCP_FILE_SYSTEM_TIMEOUT_MS: "" }, { timeoutMs: 1000 }],
    [{ REFMCP_FILE_SYSTEM_ROOT: "/a:/b,c::~/d" }, { directories: ["/a", "/b,c", "/home/me/d"] }],
    [{ REFMCP_FILE_SYSTEM_IGNORE: "*.{a,b}\n dist " }, { ignore: ["*.{a,b}", "dist"] }],
    [{ REFMCP_FILE_SYSTEM_DB: "a=1\r\nb=2" }, { db: [expect.anything(), expect.anything()] }],
    [{ OLD_DB_FILE: "old.db", DB_FILE: "new.db" }, { database: "/home/me/work/new.db" }],
    [
      { DB_FILE: "x.db", REFMCP_FILE_SYSTEM_DATABASE: "own.db" },
      { database: "/home/me/work/own.db" },
    ],
    [{ REFMCP_FILE_SYSTEM_LIST_TOOLS: "1" }, { listTools: false }],
  ])("%j", (env, expected) => {
    expect(values([], env)).toMatchObject(expected);
  });

  it("is replaced as a whole by the command line", () => {
    const env = {
      REFMCP_FILE_SYSTEM_ROOT: "/env",
      REFMCP_FILE_SYSTEM_READ_ONLY: "1",
      DB_FILE: "/env.db",
    };
    const parsed = parse(["/arg", "--no-read-only"], env);
    expect(parsed).toMatchObject({
      values: { directories: ["/arg"], readOnly: false, database: "/env.db" },
      sources: {
        directories: "argument",
        readOnly: "argument",
        database: "environment",
        timeoutMs: "default",
      },
    });
    expect(parsed.ok && [...parsed.variables]).toEqual([["database", "DB_FILE"]]);
  });

  it("mentions the variable of an invalid value", () => {
    expect(message([], { REFMCP_FILE_SYSTEM_READ_ONLY: "maybe" })).toBe(
      'Environment variable REFMCP_FILE_SYSTEM_READ_ONLY is "maybe"; it takes true or false (also 1, 0, yes, no, on, off).',
    );
  });

  it("ignores a placeholder that the host did not fill in, with a warning that shows nothing else of the environment", () => {
    const env = {
      API_TOKEN: `\${input:token}`,
      DB_FILE: "$DB_FILE",
      REFMCP_FILE_SYSTEM_PROXY_URL: `\${user_config.proxy}`,
    };
    const parsed = parse([], env);
    expect(parsed).toMatchObject({
      values: { token: undefined, database: undefined, proxyUrl: undefined },
    });
    expect(parsed.ok && parsed.warnings).toEqual([
      "Environment variable DB_FILE is ignored: its value is a placeholder that the host did not fill in.",
      "Environment variable REFMCP_FILE_SYSTEM_PROXY_URL is ignored: its value is a placeholder that the host did not fill in.",
      "Environment variable API_TOKEN is ignored: its value is a placeholder that the host did not fill in.",
    ]);
    expect(values([], { API_TOKEN: "<paste API_TOKEN here>" }).token).toBeUndefined();
    expect(values([], { API_TOKEN: "%API_TOKEN%" }).token).toBeUndefined();
    expect(values([], { API_TOKEN: "$OTHER" }).token).toBe("$OTHER");
  });
});
