import { cp, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Connected, connectStdio } from "@refmcp/core/testing";
import { afterEach, describe, expect, it } from "vitest";
import { project } from "./fixture.ts";
import { answerOf, folderOf } from "./session.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const servers: Connected[] = [];
afterEach(async () => {
  for (const one of servers.splice(0)) await one.close().catch(() => undefined);
});

async function start(bin: string, options: NonNullable<Parameters<typeof connectStdio>[1]>) {
  const connected = await connectStdio(bin, options);
  servers.push(connected);
  return async (name: string, args: Record<string, unknown> = {}) =>
    answerOf(await connected.client.callTool({ name, arguments: args }));
}

describe("a server in a folder with a comma in its name", () => {
  it("lists and runs specs", async () => {
    const folder = join(await folderOf("comma"), "sub, dir");
    await mkdir(folder);
    for (const name of ["dist", "package.json"])
      await cp(here(`../${name}`), join(folder, name), { recursive: true });
    await symlink(here("../node_modules"), join(folder, "node_modules"), "junction");
    const spec = 'import { test } from "playwright/test";\ntest("one", () => {});\n';
    const home = await project(await folderOf("project"), { "one.spec.js": spec });
    const call = await start(join(folder, "dist", "bin.js"), { args: ["--project", home] });
    const listed = await call("pw_list_specs");
    expect(listed.data.tests, listed.text).toEqual(["one.spec.js:2 one"]);
    expect((await call("pw_run_specs")).data).toMatchObject({ passed: true, summary: "1 passed" });
  });
});
