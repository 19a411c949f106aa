import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { addToChangelog, pendingChanges } from "../../scripts/lib/changelog.mjs";
import { PUBLISHED, ROOT, SERVERS, serverBin, serverFolder } from "../servers.ts";

const execute = promisify(execFile);
const json = async (...path: string[]) => JSON.parse(await readFile(join(...path), "utf8"));

describe.each(SERVERS)("the version of the %s server", (name) => {
  it("is the same everywhere", async () => {
    const { version: ofCore } = await json(ROOT, "packages", "core", "package.json");
    const { name: packageName, version } = await json(serverFolder(name), "package.json");
    const entry = await json(serverFolder(name), "server.json");
    const { stdout } = await execute(process.execPath, [serverBin(name), "--version"]);
    expect([version, entry.version, entry.packages[0].version, stdout.trim()]).toEqual([
      ...[ofCore, ofCore, ofCore],
      `${packageName} ${ofCore}`,
    ]);
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
    const { fixed }: { fixed: string[][] } = await json(ROOT, ".changeset", "config.json");
    const isFixed = (name: string) =>
      fixed.some((group) =>
        group.some((glob) => new RegExp(`^${glob.replace("*", ".*")}$`).test(name)),
      );
    expect([...PUBLISHED.values()].filter((name) => !isFixed(name))).toEqual([]);
    expect(fixed).toHaveLength(1);
  });
});
