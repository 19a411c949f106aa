import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rename, statfs, writeFile } from "node:fs/promises";
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

/** Overwrites a file of 100 kB, and makes the change older. */
async function overwrite({ files, journalDirectory }: Scratch, path: string, content: string) {
  const { receipt } = await files.write({
    path,
    content,
    mode: "overwrite",
    create_parents: false,
  });
  const id = receipt?.changeId ?? "";
  const old = `${(Date.now() - 120_000 + clock++).toString(36).padStart(9, "0")}-${id.slice(-6)}`;
  const bytes = (await readdir(journalDirectory)).find(
    (name) => name.startsWith(`${id}.`) && name.endsWith(".json"),
  );
  const entry = join(journalDirectory, bytes ?? "");
  await writeFile(entry, (await readFile(entry, "utf8")).replaceAll(id, old));
  await rename(entry, entry.replace(id, old));
  const image = (name: string) => join(journalDirectory, "images", `${name}.0`);
  await rename(image(id), image(old));
  return old;
}
let clock = 0;

const content = (index: number) => String(index % 10).repeat(100_000);

describe.runIf(process.platform === "linux")("a journal on a full disk", () => {
  it("drops the oldest changes to free space, and the new change succeeds", async (ctx) => {
    const place = await smallDisk(ctx);
    const path = await place.put("a", content(0));
    const ids: string[] = [];
    for (let index = 1; index <= 25; index++)
      ids.push(await overwrite(place, path, content(index)));
    expect(await place.read("a")).toBe(content(25));
    // Another server reads the journal from the disk.
    const other = place.another();
    const { changes } = await other.changes({ limit: 100, maxChars: 80_000 });
    const kept = changes.map(({ change }) => change.id).reverse();
    expect(kept.length).toBeGreaterThan(5);
    expect(kept).toEqual(ids.slice(-kept.length));
    await other.undo(kept.at(-1) ?? "");
    expect(await place.read("a")).toBe(content(24));

    const { receipt } = await place.files.delete(path);
    await place.another().undo(receipt?.changeId ?? "");
    expect(await place.read("a")).toBe(content(24));
  });

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
