import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { filled, pageParts } from "../../scripts/generate/pages.mjs";
import { isPublished, markPublished } from "../../scripts/lib/published.mjs";
import { describedServers, ROOT, SERVERS, serverBin } from "../servers.ts";

const execute = promisify(execFile);
const read = (page: string) => readFile(join(ROOT, page), "utf8");
const NOT_YET = "Not published to npm yet";
const LINKS = /https:\/\/(?:insiders\.vscode\.dev|cursor\.com\/en\/install-mcp)[^\s)]+/g;
/** The variable of VS Code and Cursor. */
const OPEN_FOLDER = "$" + "{workspaceFolder}";

const servers = await describedServers();

/** The pages before or after the first release. */
async function pagesOf(published: boolean): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  for (const [page, parts] of Object.entries(await pageParts(servers, { published })))
    pages.set(page, filled(await read(page), parts, page));
  return pages;
}
const [before, after] = await Promise.all([pagesOf(false), pagesOf(true)]);
const PAGES = ["README.md", "docs/hosts.md", ...SERVERS.map((name) => `servers/${name}/README.md`)];

const entry = z.strictObject({
  type: z.literal("stdio").optional(),
  command: z.literal("npx"),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()).optional(),
});
const inputs = z.array(
  z.strictObject({
    type: z.literal("promptString"),
    id: z.string(),
    description: z.string().min(1),
    password: z.boolean().optional(),
  }),
);

/** What a link installs. */
function decoded(link: string) {
  const url = new URL(link);
  const config = url.searchParams.get("config") ?? "";
  const cursor = url.hostname === "cursor.com";
  return {
    host: cursor ? "cursor" : "vscode",
    name: url.searchParams.get("name"),
    config: entry.parse(JSON.parse(cursor ? Buffer.from(config, "base64").toString() : config)),
    inputs: inputs.parse(JSON.parse(url.searchParams.get("inputs") ?? "[]")),
  };
}

it("every page with instructions has both forms", () => {
  expect([...before.keys()].sort()).toEqual(PAGES.toSorted());
  expect([...after.keys()].sort()).toEqual(PAGES.toSorted());
});

describe.each(PAGES)("%s", (page) => {
  const unpublished = before.get(page) ?? "";
  const published = after.get(page) ?? "";

  it("matches the flag", async () => {
    expect(await read(page)).toBe((await isPublished()) ? published : unpublished);
  });

  it("runs nothing from npm before it is published", () => {
    expect(unpublished).not.toMatch(/npx -y @?refmcp|"-y",\s*"@?refmcp|npm i(nstall)? @?refmcp/);
    expect(unpublished.match(LINKS)).toBeNull();
  });

  it("starts with what works from a clone", () => {
    const beforeCode = unpublished.slice(0, unpublished.indexOf("```"));
    if (page === "README.md") {
      expect(beforeCode).toContain(NOT_YET);
      expect(unpublished).toContain(
        "git clone https://github.com/refmcp/refmcp.git\ncd refmcp\nnpm start",
      );
    } else {
      expect(beforeCode).toMatch(/\[Start\]\((?:\.\.\/)+README\.md#start\)/);
      expect(unpublished, "that is in the root README, once").not.toContain(NOT_YET);
    }
    expect(unpublished).toMatch(
      page === "README.md"
        ? /^node packages\/refmcp\/dist\/bin\.js setup /m
        : /^node packages\/refmcp\/dist\/bin\.js [a-z]+ .*--print-config [a-z-]+$/m,
    );
  });

  it("names the packages after the release", () => {
    expect(published).not.toContain(NOT_YET);
    expect(published).not.toContain("/path/to/refmcp");
    expect(published).not.toContain("git clone");
    const isRoot = page === "README.md";
    expect(published).toMatch(
      isRoot ? /^npx -y refmcp setup /m : /npx -y refmcp [a-z]+ .*--print-config/,
    );
    if (page === "docs/hosts.md") return;
    expect(published.replaceAll(/\s+/g, "")).toContain(
      `"args":["-y","${isRoot ? "refmcp" : "@refmcp/server-"}`,
    );
    expect(published.match(LINKS)?.length).toBeGreaterThan(0);
  });

  it("has links that work unchanged", () => {
    for (const link of published.match(LINKS) ?? []) {
      const { host, name, config, inputs } = decoded(link);
      const whole = JSON.stringify({ config, inputs });
      expect(config.args.slice(0, 2)).toEqual([
        "-y",
        name === "refmcp" ? name : `@refmcp/server-${name}`,
      ]);
      expect(whole).not.toMatch(/\/path\/to|<paste/);
      const asked = [...whole.matchAll(/\$\{input:([\w-]+)\}/g)].map(([, id]) => id);
      expect(asked).toEqual(inputs.map(({ id }) => id));
      if (host === "cursor") expect(asked, "Cursor asks for nothing").toEqual([]);
    }
  });
});

describe("a link with one click", () => {
  const linksOf = (name: string) =>
    (after.get(`servers/${name}/README.md`)?.match(LINKS) ?? []).map(decoded);
  const argsOf = (name: string) =>
    linksOf(name).map(({ host, config }) => [host, ...config.args.slice(2)]);

  it.each([
    ["filesystem", [OPEN_FOLDER]],
    ["playwright", []],
  ])("of %s has the open folder, if it needs one", (name, args) => {
    expect(argsOf(name)).toEqual([
      ["vscode", ...args],
      ["cursor", ...args],
    ]);
  });

  it("of sqlite asks for the file, or does not exist", () => {
    expect(argsOf("sqlite")).toEqual([["vscode", "--db-path=$" + "{input:refmcp-sqlite-db-path}"]]);
    expect(linksOf("sqlite")[0]?.inputs).toEqual([
      { type: "promptString", id: "refmcp-sqlite-db-path", description: expect.any(String) },
    ]);
  });

  it("of postgres asks for the secret", () => {
    const [vscode, cursor] = linksOf("postgres");
    expect(vscode?.config.env).toEqual({
      REFMCP_POSTGRES_URL: "$" + "{input:refmcp-postgres-url}",
    });
    expect(vscode?.inputs[0]?.password).toBe(true);
    expect(cursor?.config.env).toEqual({ REFMCP_POSTGRES_URL: "$" + "{env:REFMCP_POSTGRES_URL}" });
  });
});

describe("the commands for a clone", () => {
  it.each(PAGES.filter((page) => page !== "README.md"))("on %s print an entry", async (page) => {
    const [command = ""] =
      /^node packages\/refmcp\/.* --print-config .*$/m.exec(before.get(page) ?? "") ?? [];
    const [, bin = "", name = "", ...args] = command.split(" ");
    const { stdout } = await execute(process.execPath, [bin, name, ...args], { cwd: ROOT });
    expect(stdout).toContain(JSON.stringify(serverBin(name)));
    expect(Object.keys(JSON.parse(stdout))).toHaveLength(1);
  });

  it("on README.md shows what it would change", async () => {
    const [command = ""] = /^node packages\/refmcp\/.*$/m.exec(before.get("README.md") ?? "") ?? [];
    const [, ...args] = command.split(" ");
    const home = await mkdtemp(join(tmpdir(), "refmcp-home-"));
    await mkdir(join(home, "my-project"));
    try {
      const { stdout } = await execute(
        process.execPath,
        [...args.map((word) => word.replace(/^~/, home)), "--dry-run", "--host", "cursor"],
        { cwd: ROOT, env: { ...process.env, HOME: home, USERPROFILE: home } },
      );
      expect(stdout).toContain(join(home, ".cursor", "mcp.json"));
      expect(stdout).toContain(JSON.stringify(join(ROOT, "packages/refmcp/dist/bin.js")));
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
});

it.each(SERVERS)("the help of %s, run from a clone, mentions nothing on npm", async (name) => {
  const { stdout } = await execute(process.execPath, [serverBin(name), "--help"]);
  expect(stdout).toContain(`node ${serverBin(name)} `);
  expect(stdout).not.toMatch(/npx -y @refmcp|npmjs\.com/);
});

it("no other page runs an unpublished package", async () => {
  if (await isPublished()) return;
  const { stdout } = await execute("git", ["ls-files", "*.md"], { cwd: ROOT });
  for (const page of stdout.trim().split("\n"))
    expect(await read(page), page).not.toMatch(/npx -y (-p )?@refmcp|npm i(nstall)? @refmcp/);
});

it("a release sets the flag, and changes nothing else in package.json", async () => {
  const copy = await mkdtemp(join(tmpdir(), "refmcp-flag-"));
  try {
    await cp(join(ROOT, "package.json"), join(copy, "package.json"));
    const earlier = JSON.parse(await readFile(join(copy, "package.json"), "utf8"));
    await markPublished(copy);
    await markPublished(copy);
    expect(await isPublished(copy)).toBe(true);
    expect(JSON.parse(await readFile(join(copy, "package.json"), "utf8"))).toEqual({
      ...earlier,
      refmcp: { published: true },
    });
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
  // Before the pages are written.
  expect(await read("scripts/version.mjs")).toMatch(/await markPublished\(\);[\s\S]*generate\.mjs/);
});
