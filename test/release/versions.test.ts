import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { addToChangelog, pendingChanges } from "../../scripts/lib/changelog.mjs";
import { packageFolders } from "../../scripts/lib/setup.mjs";
import { PUBLISHED, ROOT, SERVERS, serverBin, serverFolder } from "../servers.ts";

const execute = promisify(execFile);
const json = async (...path: string[]) => JSON.parse(await readFile(join(...path), "utf8"));

describe.each(SERVERS)("the version of the %s server", (name) => {
  it("is the same everywhere", async () => {
    const { version: ofCore } = await json(ROOT, "packages", "core", "package.json");
    const { name: packageName } = await json(serverFolder(name), "package.json");
    const entry = await json(serverFolder(name), "server.json");
    const { stdout } = await execute(process.execPath, [serverBin(name), "--version"]);
    expect({
      "package.json": (await json(serverFolder(name), "package.json")).version,
      "server.json": entry.version,
      "server.json's package": entry.packages[0].version,
      "the server itself": stdout.trim(),
    }).toEqual({
      "package.json": ofCore,
      "server.json": ofCore,
      "server.json's package": ofCore,
      "the server itself": `${packageName} ${ofCore}`,
    });
    // A version that is written twice will differ sooner or later.
    expect(await readFile(join(serverFolder(name), "src", "server.ts"), "utf8")).toContain(
      "version: manifest.version",
    );
  });
});

describe("a release", () => {
  it("puts its changes on top of the changelog, the largest first, and keeps what is below", async () => {
    const copy = await mkdtemp(join(tmpdir(), "refmcp-changelog-"));
    try {
      const head = "# Changelog\n\nAll packages have one version.\n";
      const first = "\n## 0.1.0 (unreleased)\n\nThe first version.\n";
      await writeFile(join(copy, "CHANGELOG.md"), head + first);
      await mkdir(join(copy, ".changeset"));
      const changelog = () => readFile(join(copy, "CHANGELOG.md"), "utf8");
      // The first release has no changesets: it is only dated.
      const dated = first.replace("unreleased", "2026-12-01");
      const changes = await pendingChanges(copy);
      await addToChangelog(copy, { version: "0.1.0", date: "2026-12-01", changes });
      expect(await changelog()).toBe(head + dated);
      const add = (file: string, text: string) => writeFile(join(copy, ".changeset", file), text);
      await add("README.md", "# Changesets\n");
      await add("a.md", '---\n"@refmcp/server-git": patch\n---\n\nA bug less,\non two lines.\n');
      await addToChangelog(copy, {
        version: "1.0.0",
        date: "2027-01-01",
        changes: await pendingChanges(copy),
      });
      await add("b.md", '---\n"@refmcp/server-git": major\n---\n\nA tool less.\n');
      await add("c.md", '---\n"@refmcp/core": minor\n---\n\nMore.\n');
      await addToChangelog(copy, {
        version: "2.0.0",
        date: "2027-02-01",
        changes: await pendingChanges(copy),
      });
      expect(await changelog()).toBe(
        `${head}
## 2.0.0 (2027-02-01)

### core

- More.

### git

- **Breaking:** A tool less.
- A bug less, on two lines.

## 1.0.0 (2027-01-01)

### git

- A bug less, on two lines.
${dated}`,
      );
      await add("d.md", "Nothing that is a changeset.");
      await expect(pendingChanges(copy)).rejects.toThrow("d.md is not a changeset");
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  });

  it("gives all published packages one new version, whichever package changed", async () => {
    const copy = await mkdtemp(join(tmpdir(), "refmcp-release-"));
    try {
      for (const file of ["package.json", "pnpm-workspace.yaml"])
        await cp(join(ROOT, file), join(copy, file));
      await mkdir(join(copy, ".changeset"));
      await cp(join(ROOT, ".changeset", "config.json"), join(copy, ".changeset", "config.json"));
      const folders = await packageFolders();
      for (const folder of folders) {
        await mkdir(join(copy, folder), { recursive: true });
        await cp(join(ROOT, folder, "package.json"), join(copy, folder, "package.json"));
      }
      await symlink(join(ROOT, "node_modules"), join(copy, "node_modules"), "junction");
      await execute("git", ["init", "--quiet"], { cwd: copy });
      const change = '---\n"@refmcp/server-filesystem": minor\n---\n\nSomething new.\n';
      await writeFile(join(copy, ".changeset", "something.md"), change);
      const before: string = (await json(copy, "packages", "core", "package.json")).version;
      const changesets = join(ROOT, "node_modules", "@changesets", "cli", "bin.js");
      await execute(process.execPath, [changesets, "version"], { cwd: copy });
      const after = new Map<string, string>();
      for (const folder of folders) {
        const {
          name,
          version,
          private: unpublished = false,
        } = await json(copy, folder, "package.json");
        if (!unpublished) after.set(name, version);
      }
      const [major, minor] = before.split(".").map(Number);
      expect([...after.keys()].sort()).toEqual([...PUBLISHED.values()].sort());
      expect(new Set(after.values())).toEqual(new Set([`${major}.${Number(minor) + 1}.0`]));
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  });
});
