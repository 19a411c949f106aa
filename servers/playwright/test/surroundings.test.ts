import { chmod, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Connected, connectStdio } from "@refmcp/testing";
import { afterEach, describe, expect, it } from "vitest";
import { ensureBrowser } from "./browser.mjs";
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
});
