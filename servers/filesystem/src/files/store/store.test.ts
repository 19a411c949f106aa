import { readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createPathGuard } from "@refmcp/boundary";
import { describe, expect, it } from "vitest";
import { allowlist, openDomain, request, scratch } from "../../../test/scratch.ts";
import { write } from "../edit/write.ts";
import { startRecording } from "./recording.ts";
import { Store } from "./store.ts";

describe("the journal", () => {
  it("keeps the previous content, readable only by the user", async () => {
    const { files, put, journalDirectory } = await scratch();
    const path = await put("a.txt", "old");
    const { receipt } = await files.write(request(path, "new"));
    expect((await stat(journalDirectory)).mode & 0o777).toBe(0o700);
    const names = await readdir(journalDirectory);
    const id = receipt?.changeId;
    expect(names.sort()).toEqual([`${id}.3.30.json`, "images"]);
    expect(await readFile(join(journalDirectory, "images", `${id}.0.30`), "utf8")).toBe("old");
  });

  it("survives a restart, and is shared by two servers at once", async () => {
    const { files, another, at } = await scratch();
    const second = another();
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        (index % 2 === 0 ? files : second).write(request(at(`${index}`), "x")),
      ),
    );
    const seen = await another().changes();
    expect(new Set(seen.map(({ path }) => path)).size).toBe(60);
    expect(seen.every(({ steps }) => steps[0]?.kind === "put")).toBe(true);
  });

  it("hides changes in other roots from a server", async () => {
    const { files, at, state, outside } = await scratch();
    const { receipt } = await files.write(request(at("secret.txt"), "x"));
    const other = new Store({ directories: [state], allowed: allowlist(outside), days: 30 });
    expect(await other.list({ limit: 10 })).toEqual([]);
    await expect(other.get(receipt?.changeId ?? "")).rejects.toMatchObject({ kind: "not_found" });
  });

  it("drops the oldest changes beyond its limits, and leftovers of a crash", async () => {
    const { root, at, put, state, journalDirectory } = await scratch();
    const store = new Store({
      directories: [state],
      allowed: allowlist(root),
      days: 30,
      maxChanges: 30,
      maxBytes: 1000,
    });
    await put("f", "x");
    const change = async () => {
      const recording = await startRecording(store, { action: "edit", path: at("f") });
      const { image } = recording.imageFor(at("f"), 50);
      await recording.copying(() => writeFile(image, "x".repeat(50)));
      recording.write({ kind: "put", path: at("f"), after: { type: "nothing" }, image });
      await recording.end();
    };
    await change();
    const orphan = `${(Date.now() - 7_200_000).toString(36).padStart(9, "0")}-abcdef.0.30`;
    await writeFile(join(journalDirectory, "images", orphan), "left over");
    await writeFile(join(journalDirectory, "0zzzzzzzz-aaaaaa.5.json"), "{ damaged");
    for (let index = 0; index < 99; index++) await change();
    expect((await store.list({ limit: 1000 })).length).toBeLessThanOrEqual(40);
    const images = await readdir(join(journalDirectory, "images"));
    expect(images).not.toContain(orphan);
    expect(images.length * 50).toBeLessThanOrEqual(2000);
  });

  it("keeps a change as long as its server's setting says, even if another server reads it", async () => {
    const { files, at, put, state, journalDirectory, outside } = await scratch();
    const { receipt } = await files.write(request(await put("a", "secret"), "x"));
    const [id, old] = [
      receipt?.changeId ?? "",
      (Date.now() - 31 * 86_400_000).toString(36).padStart(9, "0"),
    ];
    const aged = `${old}-abcdef`;
    const record = join(journalDirectory, `${id}.6.30.json`);
    await writeFile(record, (await readFile(record, "utf8")).replaceAll(id, aged));
    await rename(record, join(journalDirectory, `${aged}.6.30.json`));
    const image = (name: string) => join(journalDirectory, "images", `${name}.0.30`);
    await rename(image(id), image(aged));
    const change = await files.write(request(at("b"), "b"));
    const other = createPathGuard(allowlist(outside));
    const neighbor = openDomain({
      guard: other,
      journalDirectories: [state],
      journalDays: 1,
    });
    await neighbor.write(request(join(outside, "c"), "c"));
    const names = await readdir(journalDirectory);
    expect(names).toContain(`${change.receipt?.changeId}.0.30.json`);
    expect(names).not.toContain(`${aged}.6.30.json`);
    expect(await readdir(join(journalDirectory, "images"))).toEqual([]);
  });

  it("is erased at the start if nothing is to be kept, and no other directory's", async () => {
    const { files, put, another, journalDirectory, state, outside } = await scratch();
    const guard = createPathGuard(allowlist(outside));
    const neighbor = openDomain({ guard, journalDirectories: [state] });
    await neighbor.write(request(join(outside, "c"), "c"));
    await files.write(request(await put(".env", "TOKEN=1"), "TOKEN=2"));
    await another().store.eraseUnwanted();
    expect(await readdir(join(journalDirectory, "images"))).toHaveLength(1);
    await another({ journalDays: 0 }).store.eraseUnwanted();
    expect(await readdir(journalDirectory)).toHaveLength(2);
    expect(await readdir(join(journalDirectory, "images"))).toEqual([]);
    expect(await neighbor.changes()).toHaveLength(1);
  });

  it("refuses a change of what it cannot keep", async () => {
    const { root, put, state, read } = await scratch();
    const guard = createPathGuard(allowlist(root));
    const files = openDomain({ guard, journalDirectories: [state] });
    const limits = { directories: [state], allowed: guard.allowed, days: 30, maxCopiedBytes: 10 };
    const small = { ...files, store: new Store(limits) };
    const path = await put("a.txt", "more than ten bytes");
    await expect(write(small, request(path, "new"))).rejects.toMatchObject({ kind: "too_large" });
    expect(await read("a.txt")).toBe("more than ten bytes");
  });
});

describe("if nothing is kept", () => {
  it("nothing remains after a call, and undo explains why", async () => {
    const { files, at, put, journalDirectory } = await scratch({ journalDays: 0 });
    const { receipt } = await files.write(request(await put("a", "old"), "a"));
    expect(receipt).toMatchObject({ changeId: undefined });
    expect((await readdir(journalDirectory)).sort()).toEqual(["images"]);
    expect(await readdir(join(journalDirectory, "images"))).toEqual([]);
    await expect(files.changes()).rejects.toMatchObject({ kind: "unavailable" });
    await expect(files.undo("000000000-000000")).rejects.toThrow("--journal-days 0");
    expect(await stat(at("a"))).toMatchObject({ nlink: 1 });
  });
});
