import { existsSync } from "node:fs";
import { appendFile, mkdir, open, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  makeWorkspace,
  readThrough,
  refusal,
  type Workspace,
} from "../../test/fixtures/boundary.ts";
import { hasProc, LocalFile, procOpener } from "./open.ts";

/** The first bytes are read without the thread pool. */
const SMALL_BYTES = 64 * 1024;

/** On Linux always a local file system. */
const place = "/dev/shm";

describe.runIf(hasProc() && existsSync(place))("a local file", () => {
  let workspace: Workspace;
  let path: string;
  beforeEach(async () => {
    workspace = await makeWorkspace(place);
    path = join(workspace.root, "a.txt");
    await writeFile(path, "hello");
  });
  afterEach(() => workspace.remove());

  it.each(["LocalFile", "FileHandle"])("is read the same way by %s", async (kind) => {
    const handle = kind === "LocalFile" ? LocalFile.open(path) : await open(path);
    if (handle === undefined) throw new Error("not opened");
    const bytes = Buffer.alloc(8);
    expect(await handle.read(bytes, 2, 3, 1)).toMatchObject({ bytesRead: 3 });
    expect(bytes.toString("latin1")).toBe("\0\0ell\0\0\0");
    expect((await handle.stat({ bigint: true })).size).toBe(5n);
    expect((await buffer(handle.createReadStream({ start: 1, autoClose: false }))).toString()).toBe(
      "ello",
    );
    expect(await handle.readFile("utf8")).toBe("hello");
    for await (const _chunk of handle.createReadStream({ start: 0, autoClose: false })) break;
    await handle.close();
    await handle.close();
    expect(handle.fd).toBe(-1);
    await expect(handle.read(bytes, 0, 1, 0)).rejects.toThrow();
    await expect(handle.stat({ bigint: true })).rejects.toThrow();
  });

  it("is read to its end even if it grows during the read", async () => {
    const file = await workspace.guard("proc").openFile(path);
    expect(file.handle).toBeInstanceOf(LocalFile);
    await appendFile(path, "x".repeat(SMALL_BYTES));
    const bytes = Buffer.alloc(SMALL_BYTES + 10);
    expect(await file.handle.read(bytes, 0, bytes.length, 0)).toMatchObject({
      bytesRead: SMALL_BYTES + 5,
    });
    await file.handle.close();
  });

  it("is read at any position, however large it is", async () => {
    await writeFile(path, Buffer.concat([Buffer.alloc(SMALL_BYTES, "a"), Buffer.from("the end")]));
    const file = await workspace.guard("proc").openFile(path);
    expect(file.handle).toBeInstanceOf(LocalFile);
    const bytes = Buffer.alloc(9);
    for (const [position, text] of [
      [0, "aaaaaaaaa"],
      [SMALL_BYTES - 2, "aathe end"],
    ] as const) {
      expect(await file.handle.read(bytes, 0, 9, position)).toMatchObject({ bytesRead: 9 });
      expect(bytes.toString()).toBe(text);
    }
    expect((await file.handle.readFile()).length).toBe(SMALL_BYTES + 7);
    await file.handle.close();
  });

  it("has its path, even if it was replaced since it was located", async () => {
    const held = await open(path);
    await unlink(path);
    const opener = procOpener(workspace.allowed);
    const file = await opener.openFile(`/proc/self/fd/${held.fd}`, path);
    expect(file.realPath).toBe(path);
    await file.handle.close();
    await held.close();
    const named = `${path} (deleted)`;
    await writeFile(named, "hello");
    const other = await opener.openFile(named, named);
    expect(other.realPath).toBe(named);
    await other.handle.close();
  });

  it("is verified even when its directory is cached", async () => {
    const guard = workspace.guard("proc");
    await mkdir(join(workspace.root, "sub"));
    await writeFile(join(workspace.root, "sub", "b.txt"), "below");
    for (let round = 0; round < 2; round++) expect(await readThrough(guard, path)).toBe("hello");
    await unlink(path);
    expect(await refusal(guard.openFile(path))).toMatchObject({ kind: "not_found" });
    await symlink(workspace.secret, path);
    expect(await refusal(guard.openFile(path))).toMatchObject({ code: "outside" });
    await unlink(path);
    await symlink("sub/b.txt", path);
    expect(await readThrough(guard, path)).toBe("below");
  });
});
