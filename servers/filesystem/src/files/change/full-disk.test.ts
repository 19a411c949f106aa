import { execFile } from "node:child_process";
import { mkdir, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished, type TestContext } from "vitest";
import { type Scratch, scratch } from "../../../test/scratch.ts";

const run = promisify(execFile);

/** A journal on a separate 1 MiB disk, which needs root. */
async function smallDisk(ctx: TestContext): Promise<Scratch> {
  const place = await scratch();
  await mkdir(place.state);
  await run("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", place.state]).catch(() =>
    ctx.skip("needs root"),
  );
  onTestFinished(() => run("umount", ["--lazy", place.state]).then(() => {}));
  return place;
}

const content = (index: number) => String(index % 10).repeat(100_000);

describe.runIf(process.platform === "linux")("a journal on a full disk", () => {
  it("refuses a change that does not fit, and loses neither content nor journal", async (ctx) => {
    const place = await smallDisk(ctx);
    const path = await place.put("a", content(0));
    const id = (
      await place.files.write({ path, content: "new", mode: "overwrite", create_parents: false })
    ).receipt;
    const { bavail, bsize } = await statfs(place.state);
    await writeFile(join(place.state, "foreign"), Buffer.alloc(bavail * bsize));
    const write = (files = place.files) =>
      files.write({ path, content: "newer", mode: "overwrite", create_parents: false });
    await expect(write()).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("ENOSPC"),
    });
    await expect(write(place.another())).rejects.toMatchObject({ kind: "unavailable" });
    expect(await place.read("a")).toBe("new");
    await writeFile(join(place.state, "foreign"), "");
    await place.another().undo(id?.changeId ?? "");
    expect(await place.read("a")).toBe(content(0));
  });
});
