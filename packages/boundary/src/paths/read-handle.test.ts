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
import { hasProc, openerOf } from "./open.ts";
import { openLocal } from "./open-portable.ts";

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

  it.each([openLocal, open])("is read the same way by %o", async (opened) => {
    const handle = await opened(path);
    if (handle === undefined) throw new Error("not opened");
    const bytes = Buffer.alloc(8);
    expect(await handle.read(bytes, 2, 3, 1)).toMatchObject({ bytesRead: 3 });
    expect(bytes.toString("latin1")).toBe("\0\0ell\0\0\0");
    expect((await handle.stat({ bigint: true })).size).toBe(5n);
    const stream = handle.createReadStream({ start: 1, autoClose: false });
    expect((await buffer(stream)).toString()).toBe("ello");
    expect(String(await handle.readFile())).toBe("hello");
    for await (const _chunk of handle.createReadStream({ start: 0, autoClose: false })) break;
    await handle.close();
    await handle.close();
    expect(handle.fd).toBe(-1);
    await expect(handle.read(bytes, 0, 1, 0)).rejects.toThrow();
    await expect(handle.stat({ bigint: true })).rejects.toThrow();
  });

  it("is read at any position, to its end even if it grows during the read", async () => {
    await writeFile(path, Buffer.concat([Buffer.alloc(SMALL_BYTES, "a"), Buffer.from("the end")]));
    const { handle } = await workspace.guard("proc").openFile(path);
    const bytes = Buffer.alloc(SMALL_BYTES + 20);
    for (const [position, text] of [
      [0, "aaaaaaaaa"],
      [SMALL_BYTES - 2, "aathe end"],
    ] as const) {
      expect(await handle.read(bytes, 0, 9, position)).toMatchObject({ bytesRead: 9 });
      expect(bytes.toString("latin1", 0, 9)).toBe(text);
    }
    await appendFile(path, "more");
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
    expect(bytesRead).toBe(SMALL_BYTES + 11);
    expect((await handle.readFile()).length).toBe(bytesRead);
    await handle.close();
  });

  it("has its path, even if it was replaced since it was located", async () => {
    const held = await open(path);
    await unlink(path);
    const opener = openerOf(workspace.allowed, "proc");
    const named = `${path} (deleted)`;
    await writeFile(named, "hello");
    for (const [at, expected] of [
      [`/proc/self/fd/${held.fd}`, path] as const,
      [named, named] as const,
    ]) {
      const file = await opener.openFile(at, at);
      expect(file.realPath).toBe(expected);
      await file.handle.close();
    }
    await held.close();
  });

  it("is verified even when its directory is cached", async () => {
    const guard = workspace.guard("proc");
    await mkdir(join(workspace.root, "sub"));
    await writeFile(join(workspace.root, "sub", "b.txt"), "below");
    for (let round = 0; round < 2; round++) expect(await readThrough(guard, path)).toBe("hello");
    await unlink(path);
    await refusal(guard.openFile(path), "enoent");
    await symlink(workspace.secret, path);
    await refusal(guard.openFile(path), "outside");
    await unlink(path);
    await symlink("sub/b.txt", path);
    expect(await readThrough(guard, path)).toBe("below");
  });
});
