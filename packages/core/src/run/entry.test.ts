import { describe, expect, it } from "vitest";
import { defineOptions } from "../define/options.ts";
import { carryOptions, commonEntry, localCommand } from "./entry.ts";
import { serverOptions } from "./options.ts";
import { parseCommandLine } from "./parse-options.ts";

const options = defineOptions({
  readOnlyDir: { type: "directory", list: true, description: "D." },
  journal: { type: "flag", default: true, description: "D." },
  ignore: { type: "string", list: true, commas: false, description: "D." },
  hooks: { type: "enum", list: true, values: ["a", "b"], description: "D." },
  proxyUrl: { type: "url", description: "The proxy." },
  token: { type: "secret", env: ["API_TOKEN"], description: "The token." },
  db: {
    type: "secret",
    named: "unique",
    ask: true,
    askUnless: ["demo"],
    form: { title: "Databases", help: "Each with a name." },
    description: "The databases.",
  },
  demo: { type: "flag", description: "A database to try things out." },
  space: { type: "directory", named: "unique", description: "D." },
});
const all = serverOptions({ name: "filesystem", options, directories: {} });
const server = { name: "filesystem", packageName: "@refmcp/server-filesystem" };
const place = { cwd: "/work", home: "/home/me", platform: "linux" } as const;
const asked = {
  name: "REFMCP_FILESYSTEM_DB",
  secret: true,
  description: "Databases: Each with a name.",
};

function carried(argv: readonly string[], env: Record<string, string> = {}) {
  const command = parseCommandLine(all, {
    ...place,
    argv: [...argv, "--print-config"],
    env,
  });
  if (command.kind !== "print-config") throw new Error(JSON.stringify(command));
  return carryOptions(all.server, all.table, command.parsedOptions, "linux");
}

describe("carryOptions", () => {
  it.each([
    ["", ""],
    ["--read-only ~/a b", "/home/me/a /work/b --read-only"],
    ["--read-only=no", "--no-read-only"],
    ["--tools a,b --tools c", "--tools=a,b,c"],
    ["--hooks=a --hooks=b", "--hooks=a,b"],
    ["--ignore {a,b} --ignore=-c", "--ignore={a,b} --ignore=-c"],
    ["--read-only-dir ../x", "--read-only-dir=/x"],
    ["--proxy-url http://proxy:8080", "--proxy-url=http://proxy:8080/"],
    ["--space a=sub", "--space=a=/work/sub"],
  ])("%s → %s", (written, expected) => {
    const [argv = [], args = []] = [written, expected].map((line) =>
      line.split(" ").filter(Boolean),
    );
    const entry = carried(argv);
    expect(entry).toEqual({ args, env: [asked] });
    // Starting again with the carried arguments gives the same options.
    const before = parseCommandLine(all, { ...place, argv, env: {} });
    const after = parseCommandLine(all, { ...place, cwd: "/", argv: entry.args, env: {} });
    expect(before.kind === "serve" && before.options).toEqual(
      after.kind === "serve" && after.options,
    );
  });

  it("turns secrets into variables without a value, under their original name", () => {
    const token = { secret: true, description: "The token." };
    expect(carried(["--token", "hunter2", "--db", "a=hunter2"])).toEqual({
      args: [],
      env: [{ name: "REFMCP_FILESYSTEM_TOKEN", ...token }, asked],
    });
    expect(carried([], { API_TOKEN: "hunter2" }).env).toEqual([
      { name: "API_TOKEN", ...token },
      asked,
    ]);
  });

  it("keeps values from the environment there, with absolute paths", () => {
    const env = {
      REFMCP_FILESYSTEM_ROOT: "~/a:b",
      REFMCP_FILESYSTEM_READ_ONLY: "yes",
      REFMCP_FILESYSTEM_IGNORE: "a\nb",
      PATH: "/bin",
    };
    const entry = carried(["--timeout-ms=200"], env);
    expect(entry).toEqual({
      args: ["--timeout-ms=200"],
      env: [
        { name: "REFMCP_FILESYSTEM_ROOT", value: "/home/me/a:/work/b" },
        { name: "REFMCP_FILESYSTEM_IGNORE", value: "a\nb" },
        asked,
        { name: "REFMCP_FILESYSTEM_READ_ONLY", value: "true" },
      ],
    });
  });
});

describe("commonEntry", () => {
  const setup = { args: ["/work/a", "--read-only"], env: [] };

  it("runs the file of a clone; npx through cmd on Windows", () => {
    const clone = commonEntry(server, setup, localCommand("/clone/dist/bin.js"), "win32");
    expect(JSON.parse(clone.text).mcpServers.filesystem).toEqual({
      command: process.execPath,
      args: ["/clone/dist/bin.js", "/work/a", "--read-only"],
    });
    const installed = commonEntry(server, setup, undefined, "win32");
    expect(JSON.parse(installed.text).mcpServers.filesystem).toMatchObject({
      command: "cmd",
      args: ["/c", "npx", "-y", "@refmcp/server-filesystem", ...setup.args],
    });
  });
});
