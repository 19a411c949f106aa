import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { DirectoryAllowlist } from "./directories.ts";
import { hasProc } from "./open.ts";
import { createPathGuard, withHidden } from "./path-guard.ts";
import { copyTree } from "./tree.ts";

const verifications = hasProc() ? (["proc", "portable"] as const) : (["portable"] as const);

async function lab(verification: "proc" | "portable") {
  const root = await realpath(await mkdtemp(join(tmpdir(), "refmcp-hidden-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const secret = join(root, "dir", "secret");
  await mkdir(secret, { recursive: true });
  await writeFile(join(secret, "file"), "secret");
  await writeFile(join(root, "dir", "other"), "other");
  await symlink(secret, join(root, "link"));
  const allowed = new DirectoryAllowlist({
    configured: [{ path: root, source: "argument" }],
    mode: "off",
  });
  const hides = (path: string) => path === secret || path.startsWith(secret + sep);
  const guard = createPathGuard(withHidden(allowed, { paths: [secret], hides }), verification);
  return { root, secret, guard };
}

describe.each(verifications)("hidden places (%s)", (verification) => {
  it("cannot be opened, written, created or moved, directly or through a link", async () => {
    const { root, secret, guard } = await lab(verification);
    const hidden = { kind: "denied" };
    for (const path of [join(secret, "file"), join(root, "link", "file")]) {
      await expect(guard.openFile(path)).rejects.toMatchObject(hidden);
      await expect(guard.place(path)).rejects.toMatchObject(hidden);
      await expect(guard.writeFile(path, Buffer.from("x"))).rejects.toMatchObject(hidden);
      await expect(guard.updateFile(path, async () => {})).rejects.toMatchObject(hidden);
      await expect(guard.move(path, join(root, "out"))).rejects.toMatchObject(hidden);
      await expect(guard.move(join(root, "dir", "other"), path)).rejects.toMatchObject(hidden);
    }
    await expect(guard.openDirectory(secret)).rejects.toMatchObject(hidden);
    await expect(guard.createDirectory(join(secret, "new"))).rejects.toMatchObject(hidden);
    await expect(guard.move(join(root, "dir"), join(root, "moved"))).rejects.toMatchObject(hidden);
    expect(guard.contains(join(secret, "file"))).toBe(false);
    expect(await readFile(join(secret, "file"), "utf8")).toBe("secret");
    expect(await readdir(secret)).toEqual(["file"]);
  });

  it("are left out of a copy of a directory around them", async () => {
    const { root, guard } = await lab(verification);
    const [from, to] = [
      await guard.openDirectory(join(root, "dir")),
      await guard.openDirectory(root),
    ];
    onTestFinished(() => from.close());
    onTestFinished(() => to.close());
    await copyTree(
      { directory: await guard.walk(from), name: ".", path: join(root, "dir") },
      { directory: await guard.walk(to), name: "copy", path: join(root, "copy") },
    );
    expect(await readdir(join(root, "copy"))).toEqual(["other"]);
  });
});

describe.each(verifications)("updateFile (%s)", (verification) => {
  it("appends and truncates in place, and never outside", async () => {
    const { root, guard } = await lab(verification);
    const path = join(root, "dir", "other");
    await guard.updateFile(path, async (handle) => {
      // Another program's addition is not overwritten.
      await appendFile(path, " theirs");
      await handle.write(" ours", 0);
    });
    expect(await readFile(path, "utf8")).toBe("other theirs ours");
    await guard.updateFile(path, (handle) => handle.truncate(5));
    expect(await readFile(path, "utf8")).toBe("other");
    const outside = await realpath(await mkdtemp(join(tmpdir(), "refmcp-outside-")));
    onTestFinished(() => rm(outside, { recursive: true, force: true }));
    await writeFile(join(outside, "file"), "outside");
    await symlink(join(outside, "file"), join(root, "out"));
    await expect(
      guard.updateFile(join(root, "out"), (handle) => handle.truncate(0)),
    ).rejects.toMatchObject({
      kind: "denied",
    });
    await expect(guard.updateFile(join(root, "missing"), async () => {})).rejects.toMatchObject({
      kind: "not_found",
    });
    await mkdir(join(root, "plain"));
    await expect(guard.updateFile(join(root, "plain"), async () => {})).rejects.toMatchObject({
      kind: "invalid",
    });
    expect(await readFile(join(outside, "file"), "utf8")).toBe("outside");
  });
});
