import { parseOptions } from "@refmcp/core/run";
import { expect, it } from "vitest";
import { allInstalled, type ServerName } from "../src/catalog.ts";
import { allOptions, chosenServers, divideEnvironment, optionsOf } from "../src/options.ts";

/** The servers that start with these options, each with its own; or the message that refuses them. */
async function started(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const servers = await allInstalled(argv, env);
  const { server, table } = allOptions(servers);
  const read = parseOptions(server, table, { argv, env, cwd: "/project", platform: "linux" });
  if (!read.ok) return read.message;
  const chosen = chosenServers(servers, read);
  if (typeof chosen === "string") return chosen;
  // The program has no values for the options that only servers have.
  const options = { ...read.values, toolsets: [], tools: [], excludeTools: [] };
  const start = Object({ options, sources: read.sources });
  return new Map(chosen.map((installation) => [installation.name, optionsOf(installation, start)]));
}

async function options(name: ServerName, ...argv: string[]): Promise<Record<string, unknown>> {
  const all = await started(argv);
  if (typeof all === "string") throw new Error(all);
  return { ...all.get(name)?.options };
}

async function names(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const all = await started(argv, env);
  return typeof all === "string" ? all : [...all.keys()];
}

const servers = await allInstalled([], {});

it("names of tools and prompts are unique over all servers", () => {
  for (const names of [
    servers.flatMap(({ name, definition }) => [
      `${name}_confirm`,
      ...[...definition.tools].flatMap((tool) => [tool.name, ...(tool.aliases ?? [])]),
    ]),
    servers.flatMap(({ definition }) => (definition.prompts ?? []).map(({ name }) => name)),
  ]) {
    expect(names.length).toBeGreaterThan(5);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(names).not.toContain("find_tools");
    expect(names).not.toContain("call_tool");
  }
});

it("databases and the browser start only if they are named", async () => {
  const usual = ["fetch", "filesystem", "git", "memory"];
  expect(await names([])).toEqual(usual);
  expect(await names(["--playwright"])).toEqual([...usual, "playwright"]);
  expect(await names(["--playwright.browser", "firefox"])).toEqual([...usual, "playwright"]);
  expect(await names(["--sqlite", "app.db"])).toEqual([...usual, "sqlite"]);
  expect(await names(["--postgres", "postgres://host/db"])).toEqual([...usual, "postgres"]);
  const url = "postgres://me:secret@host/db";
  for (const variable of ["REFMCP_POSTGRES", "REFMCP_POSTGRES_URL"])
    expect(await names([], { [variable]: url })).toEqual([...usual, "postgres"]);
  // It may be set for another program.
  expect(await names([], { DATABASE_URL: url })).toEqual(usual);
});

it("--servers chooses exactly the servers of its list, and refuses an option of another one", async () => {
  expect(await names(["--servers", "git,sqlite"])).toEqual(["git", "sqlite"]);
  expect(await names(["--servers", "git", "--sqlite", "app.db"])).toContain("--servers leaves out");
  expect(await names(["--servers", "git", "--playwright"])).toContain("Add playwright");
});

it("directories go to the servers that access files", async () => {
  expect(await options("git", "project")).toMatchObject({ directories: ["/project/project"] });
  expect(await options("filesystem", "project")).toMatchObject({
    directories: ["/project/project"],
  });
  expect(await options("fetch", "project")).toMatchObject({ directories: [] });
});

it("an option without a name applies to all servers, and one with a name to its server", async () => {
  expect(await options("memory", "--read-only")).toMatchObject({ readOnly: true });
  expect(await options("git", "--read-only", "--no-git.read-only")).toMatchObject({
    readOnly: false,
  });
  expect(await options("git", "--git.hooks", "off")).toMatchObject({ hooks: "off" });
  expect(await options("git")).toMatchObject({ hooks: "ask" });
  expect(await options("sqlite", "--sqlite", "app.db")).toMatchObject({
    dbPath: "/project/app.db",
    allowWrite: false,
  });
  expect(await options("sqlite", "--sqlite.allow-write")).toMatchObject({ allowWrite: true });
  expect(await options("git", "--git.toolsets=read")).toMatchObject({ toolsets: ["read"] });
  expect(await options("memory", "--git.toolsets=read")).toMatchObject({ toolsets: [] });
});

it("every option of every server can be given", () => {
  const { table } = allOptions(servers);
  for (const { name, definition } of servers)
    for (const key of Object.keys(definition.options))
      expect(Object.keys(table)).toContain(`${name}.${key}`);
});

it("the variables of the servers' own options work", async () => {
  const all = await started([], {
    REFMCP_GIT_HOOKS: "off",
    REFMCP_SQLITE_DB_PATH: "/project/env.db",
  });
  if (typeof all === "string") throw new Error(all);
  expect(all.get("git")?.options).toMatchObject({ hooks: "off" });
  expect(all.get("sqlite")?.options).toMatchObject({ dbPath: "/project/env.db" });
});

it("wrong values are refused with the name of their option", async () => {
  expect(await started(["--git.hooks", "never"])).toContain("--git.hooks");
  expect(await started(["--git.hoks", "off"])).toContain("--git.hooks");
  // Only the code of the server's options can check this one.
  expect(await started(["--memory.space", "../other"])).toContain("--memory.space");
  expect(await started([], { REFMCP_MEMORY_SPACE: "../other" })).toContain("REFMCP_MEMORY_SPACE");
});

it("a server's environment has no secret of another one", () => {
  const env = {
    PATH: "/bin",
    DATABASE_URL: "postgres://me:one@host/db",
    REFMCP_POSTGRES: "postgres://me:two@host/db",
    REFMCP_FETCH_HEADER: "example.com=Authorization: three",
    PGPASSWORD: "four",
    PGHOST: "host",
    PW_SECRET_LOGIN: "five",
  };
  const original: NodeJS.ProcessEnv = { ...env };
  const { of, secrets } = divideEnvironment(servers, original);
  for (const name of secrets) delete original[name];
  expect(of("git")).toEqual({ PATH: "/bin", PGHOST: "host" });
  expect(of("postgres")).toMatchObject({ PGPASSWORD: "four", PATH: "/bin" });
  expect(of("postgres")).not.toHaveProperty("PW_SECRET_LOGIN");
  expect(of("playwright")).toMatchObject({ PW_SECRET_LOGIN: "five" });
  expect(of("playwright")).not.toHaveProperty("PGPASSWORD");
  expect(secrets).toHaveLength(5);
});
