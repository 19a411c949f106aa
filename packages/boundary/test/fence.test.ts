import { appendFile, link, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPathGuard, DirectoryAllowlist } from "@refmcp/boundary";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

/** What the package promises its users, however it is built. */

let root: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "refmcp-boundary-fence-")));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const guard = () =>
  createPathGuard(
    new DirectoryAllowlist({ configured: [{ path: root, source: "argument" }], mode: "off" }),
  );

describe("a checked file", () => {
  it("is not replaced if another program has written into it since the check began", async () => {
    const path = join(root, "a.log");
    await writeFile(path, "first\n");
    const replacement = guard().writeFile(path, Buffer.from("FIRST\n"), {
      check: () => appendFile(path, "of another program\n"),
    });
    await expect(replacement).rejects.toMatchObject({ kind: "conflict" });
    expect(await readFile(path, "utf8")).toBe("first\nof another program\n");
  });
});

describe("a file with a second hard link, which may be outside", () => {
  it("is not changed in place", async () => {
    const path = join(root, "a.log");
    await writeFile(path, "first\n");
    await link(path, join(root, "b.log"));
    const change = guard().updateFile(path, (handle) => handle.write("more\n"));
    await expect(change).rejects.toMatchObject({
      kind: "denied",
      message: expect.stringContaining("2 hard links"),
    });
    expect(await readFile(path, "utf8")).toBe("first\n");
  });
});
