import { chmod, cp, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Connected, connectStdio } from "@refmcp/testing";
import { afterEach, describe, expect, it } from "vitest";
import { isLong } from "../../../vitest.long.ts";
import { ensureBrowser } from "./browser.mjs";
import { mounted } from "./disks.ts";
import { project } from "./fixture.ts";
import { page } from "./lab.ts";
import { answerOf, folderOf, site } from "./session.ts";

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

if (isLong)
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
      expect((await call("pw_run_specs")).data).toMatchObject({
        passed: true,
        summary: "1 passed",
      });
    });
  });

describe.runIf(process.platform === "linux")("a HOME in which no folder can be created", () => {
  /** A test, and its screenshot as the server shows it afterwards. */
  async function expectVerdict(
    call: Awaited<ReturnType<typeof start>>,
    home: string,
  ): Promise<void> {
    const { url } = await site({ "/": page("<h1>Good</h1>") });
    const { data, text, links } = await call("pw_run_test", { url, assertions: ["h1 is 'Good'"] });
    expect(data, text).toMatchObject({ passed: true });
    const [note = ""] = Object(data).notes ?? [];
    expect(note).toContain(
      `since ${join(home, ".cache/refmcp/playwright/runs")} cannot be written (`,
    );
    expect(note).toContain("--output-dir chooses another folder");
    const [screenshot] = links;
    expect(screenshot?.name).toBe("home.png");
    const shown = await call("pw_view_artifact", { run_id: data.run_id });
    expect(Buffer.from(shown.images[0]?.data ?? "", "base64")).toEqual(
      await readFile(fileURLToPath(screenshot?.uri ?? "")),
    );
  }

  async function inHome(
    home: string,
    temporary: string,
    given: { args?: string[]; node?: string[] } = {},
  ) {
    const { executablePath } = await ensureBrowser();
    const args = ["--executable-path", executablePath, ...(given.args ?? [])];
    const env = { HOME: home, TMPDIR: temporary, XDG_CACHE_HOME: "" };
    return start(here("../dist/bin.js"), { ...given, args, env });
  }

  if (isLong)
    it("below a file: artifacts are kept in a temporary folder", async () => {
      const home = join(await folderOf("home"), "file");
      await writeFile(home, "");
      await expectVerdict(await inHome(home, await folderOf("tmp")), home);
    });

  if (isLong)
    it("on a read-only disk: artifacts are kept in a temporary folder", async (ctx) => {
      const home = await mounted(ctx, join(await folderOf("home"), "home"), "ro");
      await expectVerdict(await inHome(home, await folderOf("tmp")), home);
    });

  it("without permissions: artifacts are kept in a temporary folder", async () => {
    const [home, temporary] = [await folderOf("home"), await folderOf("tmp")];
    await chmod(home, 0);
    // Root may do anything until it gives up its capabilities.
    const unprivileged = ["setpriv", "--inh-caps=-all", "--bounding-set=-all", process.execPath];
    const given = process.getuid?.() === 0 ? { args: ["--no-sandbox"], node: unprivileged } : {};
    await expectVerdict(await inHome(home, temporary, given), home);
    // Only this user can read them.
    const folder = (await readdir(temporary)).find((name) => name.startsWith("refmcp-")) ?? "";
    expect((await stat(join(temporary, folder))).mode & 0o077).toBe(0);
  });

  if (isLong)
    it("and no temporary folder either: the verdict, and what was not kept", async () => {
      const file = join(await folderOf("home"), "file");
      await writeFile(file, "");
      const { executablePath } = await ensureBrowser();
      const call = await start(here("../dist/bin.js"), {
        args: ["--executable-path", executablePath, "--output-dir", join(file, "runs")],
      });
      const { url } = await site({ "/": page("<h1>Good</h1>") });
      const asked = { url, assertions: ["h1 is 'Good'"], evidence: ["screenshot", "har", "trace"] };
      const { data, text } = await call("pw_run_test", asked);
      expect(data, text).toMatchObject({ passed: true, artifacts: [] });
      expect(Object(data).notes).toEqual([
        `not kept in ${join(file, "runs", String(data.run_id))}: home.png, home.trace.zip, home.har, report.json (not a directory); --output-dir chooses another folder`,
      ]);
    });
});

describe.runIf(process.platform === "linux")("a browser that cannot start here", () => {
  async function failure(options: Parameters<typeof start>[1]) {
    const { executablePath } = await ensureBrowser();
    const call = await start(here("../dist/bin.js"), {
      ...options,
      args: ["--executable-path", executablePath, "--output-dir", await folderOf("runs")],
    });
    const { text, isError } = await call("pw_run_test", { url: "http://127.0.0.1:1/" });
    expect(isError, text).toBe(true);
    return text;
  }

  it("for lack of a directory for temporary files: it is named", async () => {
    // Below a file, since Node.js 24 creates a missing directory for its compile cache.
    const file = join(await folderOf("home"), "file");
    await writeFile(file, "");
    const text = await failure({ env: { TMPDIR: join(file, "tmp") } });
    expect(text).toContain(
      `No browser can start: the directory for temporary files, ${join(file, "tmp")}, cannot be used (not a directory).`,
    );
    expect(text).toContain("TMPDIR");
  });
});
