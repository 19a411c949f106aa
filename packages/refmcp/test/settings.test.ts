import { parseOptions } from "@refmcp/launch/internal/parse-options";
import { expect, it } from "vitest";
import { installed, SERVER_NAMES } from "../src/catalog.ts";
import { allOptions, settingsOf } from "../src/settings.ts";

const servers = SERVER_NAMES.map(installed);

/** The arguments of each server's process, or the message that refuses these. */
function settings(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { server, table } = allOptions(servers);
  const read = parseOptions(server, table, { argv, env, cwd: "/work", platform: "linux" });
  if (!read.ok) return read.message;
  const all = settingsOf(servers, read, env);
  return typeof all === "string" ? all : new Map(all.map((one) => [one.server.name, one] as const));
}

function argumentsOf(argv: readonly string[], name: (typeof SERVER_NAMES)[number]) {
  const all = settings(argv);
  return typeof all === "string" ? all : all.get(name)?.start.args;
}

it("names of tools, prompts and skills are unique over all servers", () => {
  for (const names of [
    servers.flatMap(({ name, definition }) => [
      `${name}_confirm`,
      ...[...definition.tools].flatMap((tool) => [tool.name, ...(tool.aliases ?? [])]),
    ]),
    servers.flatMap(({ definition }) => (definition.prompts ?? []).map(({ name }) => name)),
    servers.flatMap(({ definition }) =>
      [...(definition.skills ?? [])].map((skill) => Object(skill).name),
    ),
  ]) {
    expect(names.length).toBeGreaterThan(5);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(names).not.toContain("find_tools");
    expect(names).not.toContain("call_tool");
  }
});

it("directories go to the servers that access files", () => {
  expect(argumentsOf(["project"], "git")).toEqual(["/work/project"]);
  expect(argumentsOf(["project"], "filesystem")).toContain("/work/project");
  expect(argumentsOf(["project"], "fetch")).toEqual([]);
});

it("an option without a name applies to all servers, and one with a name to its server", () => {
  expect(argumentsOf(["--read-only"], "sqlite")).toContain("--read-only");
  expect(argumentsOf(["--read-only", "--no-git.read-only"], "git")).toContain("--no-read-only");
  expect(argumentsOf(["--git.hooks", "off"], "git")).toContain("--hooks=off");
  expect(argumentsOf(["--git.hooks", "off"], "filesystem")).not.toContain("--hooks=off");
  expect(argumentsOf(["--sqlite", "app.db"], "sqlite")).toContain("--db-path=/work/app.db");
  expect(argumentsOf(["--sqlite.allow-write"], "sqlite")).toContain("--allow-write");
});

it("every option of every server can be given", () => {
  const { table } = allOptions(servers);
  for (const { name, definition } of servers)
    for (const key of Object.keys(definition.options))
      expect(Object.keys(table)).toContain(`${name}.${key}`);
});

it("exactly the chosen tools of a server are offered, and they are listed with --find-tools too", () => {
  const chosen = settings(["--git.toolsets=read"]);
  if (typeof chosen === "string") throw new Error(chosen);
  expect(chosen.get("git")?.start.args).toEqual(["--toolsets=read"]);
  expect(chosen.get("git")).toMatchObject({ isListed: true, options: { toolsets: ["read"] } });
  expect(chosen.get("memory")).toMatchObject({ isListed: true, options: { toolsets: [] } });
  const found = settings(["--find-tools", "--git.toolsets=read"]);
  if (typeof found === "string") throw new Error(found);
  expect(found.get("git")?.isListed).toBe(true);
  expect(found.get("memory")?.isListed).toBe(false);
});

it("a secret reaches its server through the environment, never through arguments", () => {
  const url = "postgres://me:secret@host/db";
  const all = settings(["--postgres", url]);
  if (typeof all === "string") throw new Error(all);
  expect(all.get("postgres")?.start.env).toMatchObject({ REFMCP_POSTGRES_URL: url });
  for (const { start } of all.values()) expect(JSON.stringify(start.args)).not.toContain("secret");
  expect(all.get("git")?.start.env).not.toHaveProperty("REFMCP_POSTGRES_URL");
});

it("only the chosen servers are served", () => {
  const all = settings(["--servers", "git,sqlite"]);
  expect(typeof all === "string" ? all : [...all.keys()]).toEqual(["git", "sqlite"]);
});

it("the variables of the servers' own options work", () => {
  const all = settings([], { REFMCP_GIT_HOOKS: "off", REFMCP_SQLITE_DB_PATH: "/work/env.db" });
  if (typeof all === "string") throw new Error(all);
  expect(all.get("git")?.options).toMatchObject({ hooks: "off" });
  expect(all.get("sqlite")?.options).toMatchObject({ dbPath: "/work/env.db" });
});

it("wrong values are refused with the name of their option", () => {
  expect(settings(["--git.hooks", "never"])).toContain("--git.hooks");
  expect(settings(["--http", "3000"])).toContain("Unknown option --http");
  expect(settings(["--git.hoks", "off"])).toContain("--git.hooks");
});
