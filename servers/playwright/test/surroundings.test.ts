import { chmod, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Connected, connectStdio } from "@refmcp/testing";
import { afterEach, expect, it } from "vitest";
import { ensureBrowser } from "./browser.mjs";
import { page } from "./lab.ts";
import { answerOf, folderOf, site } from "./session.ts";

const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
let server: Connected | undefined;
afterEach(() => server?.close());

it.runIf(process.platform === "linux")(
  "a HOME in which no folder can be created: artifacts are kept in a temporary folder",
  async () => {
    const { executablePath } = await ensureBrowser();
    const [home, temporary] = [await folderOf("home"), await folderOf("tmp")];
    await chmod(home, 0);
    // Root may do anything until it gives up its capabilities.
    const unprivileged = ["setpriv", "--inh-caps=-all", "--bounding-set=-all", process.execPath];
    const isRoot = process.getuid?.() === 0;
    server = await connectStdio(BIN, {
      args: ["--executable-path", executablePath, ...(isRoot ? ["--no-sandbox"] : [])],
      env: { HOME: home, TMPDIR: temporary, XDG_CACHE_HOME: "" },
      ...(isRoot ? { node: unprivileged } : {}),
    });
    const { client } = server;
    const call = async (name: string, args: Record<string, unknown>) =>
      answerOf(await client.callTool({ name, arguments: args }));
    const { url } = await site({ "/": page("<h1>Good</h1>") });
    const { data, text, links } = await call("pw_run_test", { url, assertions: ["h1 is 'Good'"] });
    expect(data, text).toMatchObject({ passed: true });
    const [note = ""] = Object(data).notes ?? [];
    const cache = join(home, ".cache/refmcp/playwright/runs");
    expect(note).toContain(`since ${cache} cannot be written (`);
    expect(note).toContain("--output-dir chooses another folder");
    const shown = await call("pw_view_artifact", { run_id: data.run_id });
    expect(Buffer.from(shown.images[0]?.data ?? "", "base64")).toEqual(
      await readFile(fileURLToPath(links[0]?.uri ?? "")),
    );
    // Only this user can read them.
    const folder = (await readdir(temporary)).find((name) => name.startsWith("refmcp-")) ?? "";
    expect((await stat(join(temporary, folder))).mode & 0o077).toBe(0);
  },
);
