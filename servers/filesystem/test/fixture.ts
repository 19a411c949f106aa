import { createHash } from "node:crypto";
import {
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { mkdir, mkdtemp, realpath, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPathGuard, DirectoryAllowlist } from "@refmcp/boundary";
import type { World } from "@refmcp/testing";
import { openDomain } from "./scratch.ts";

const SECRET = "the-secret-outside-of-the-bound";
/** The smallest PNG: one transparent pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);

/**
 * A project with a few files, a large one, a folder with many, a link that leads outside, and a journal with one
 * change.
 */
export async function world(): Promise<World> {
  const top = await realpath(await mkdtemp(join(tmpdir(), "refmcp-filesystem-")));
  const root = join(top, "project");
  const journal = join(top, "journal");
  await mkdir(join(root, "src"), { recursive: true });
  await mkdir(join(root, "many"));
  await mkdir(join(root, "node_modules", "lib"), { recursive: true });
  await writeFile(join(top, "secret.txt"), SECRET);
  await symlink(join(top, "secret.txt"), join(root, "leak.txt"));
  await symlink("src/main.ts", join(root, "main-link.ts"));
  await writeFile(join(root, ".gitignore"), "node_modules/\n*.log\n");
  await writeFile(join(root, "README.md"), "# A project\n\nIt greets people.\n");
  await writeFile(
    join(root, "src", "main.ts"),
    'import { greet } from "./greet.ts";\n\ngreet("world");\n',
  );
  await writeFile(
    join(root, "src", "greet.ts"),
    "/** Greets somebody. */\nexport function greet(name: string): void {\n  process.stderr.write(name);\n}\n",
  );
  await writeFile(join(root, "node_modules", "lib", "index.js"), "greet\n");
  await writeFile(join(root, "old.txt"), "no longer needed\n");
  await writeFile(join(root, "pixel.png"), PNG);
  await writeFile(
    join(root, "large.txt"),
    Array.from({ length: 20_000 }, (_, i) => `line ${i + 1} of many\n`).join(""),
  );
  // Thousands of files in the tests of every tool: without a turn of the event loop for each.
  for (let i = 0; i < 1_500; i++) {
    const path = join(root, "many", `entry-${String(i).padStart(5, "0")}.txt`);
    writeFileSync(path, `entry ${i}\n`);
    utimesSync(path, 1_600_000_000, 1_600_000_000);
  }
  // Names without digits, since a tree shows names that differ only in digits as one line.
  for (let i = 0; i < 700; i++) {
    const name = String(1_000 + i).replace(/\d/g, (digit) => "abcdefghij"[Number(digit)] ?? "");
    writeFileSync(join(root, "node_modules", "lib", `module-${name}.js`), "");
  }
  const changeId = await changeSomething(root, journal);
  for (const file of [
    "README.md",
    "old.txt",
    "pixel.png",
    "large.txt",
    "changed.txt",
    "src/main.ts",
    "src/greet.ts",
  ]) {
    await utimes(join(root, file), 1_700_000_000, 1_700_000_000);
  }
  return {
    args: [root, "--journal-dir", journal],
    secret: SECRET,
    calls: {
      compare_files: { from: "README.md", to: "src/main.ts" },
      copy_file: { source: "README.md", destination: "docs.md" },
      create_directory: { path: "docs/guides" },
      delete_file: { path: "old.txt" },
      directory_tree: { path: ".", excludePatterns: ["many"] },
      edit_file: {
        path: "src/main.ts",
        edits: [{ oldText: 'greet("world");', newText: 'greet("everybody");' }],
      },
      get_file_info: { path: "README.md" },
      list_allowed_directories: {},
      list_changes: {},
      list_directory: { path: "." },
      list_directory_with_sizes: { path: "src", sortBy: "size" },
      move_file: { source: "old.txt", destination: "archive.txt" },
      read_media_file: { path: "pixel.png" },
      read_multiple_files: { paths: ["README.md", "src/main.ts", "missing.txt"] },
      read_text_file: { path: "src/greet.ts" },
      search_files: { path: ".", pattern: "*.ts" },
      search_text: { path: ".", pattern: "greet", context: 1 },
      undo_change: { id: changeId },
      write_file: { path: "notes.txt", content: "first\nsecond\n" },
    },
    losses: { delete_file: { arguments: { path: "old.txt" }, options: ["--journal-days", "0"] } },
    failures: {
      compare_files: { from: "README.md", to: "leak.txt" },
      copy_file: { source: "missing.txt", destination: "b.txt" },
      create_directory: { path: "../elsewhere" },
      delete_file: { path: "missing.txt" },
      directory_tree: { path: "README.md" },
      edit_file: { path: "src/main.ts", edits: [{ oldText: 'greet("word");', newText: "" }] },
      get_file_info: { path: "REDME.md" },
      list_changes: { cursor: "made-up" },
      list_directory: { path: "missing" },
      list_directory_with_sizes: { path: "README.md" },
      move_file: { source: "old.txt", destination: "README.md" },
      read_media_file: { path: "leak.txt" },
      read_multiple_files: { paths: [] },
      read_text_file: { path: "leak.txt" },
      search_files: { path: "..", pattern: "*" },
      search_text: { path: ".", pattern: "(unclosed" },
      undo_change: { id: "nothing" },
      write_file: { path: "leak.txt", content: "over the secret" },
    },
    large: {
      directory_tree: { path: ".", max_depth: 5, include_ignored: true },
      list_directory: { path: "many", limit: 1000 },
      read_text_file: { path: "large.txt" },
      read_multiple_files: { paths: ["large.txt", "README.md"] },
      search_files: { path: ".", pattern: "*.txt", limit: 1000 },
      search_text: { path: ".", pattern: "line", limit: 1000 },
    },
    fingerprint: async () => fingerprint(root),
    stable: (text) =>
      text
        .replaceAll(root, "/world/project")
        .replaceAll(encodeURI(root), "/world/project")
        .replaceAll(journal, "/world/journal")
        .replaceAll(top, "/world")
        .replaceAll(changeId, "<change>")
        .replace(/\b[0-9a-z]{9}-[0-9a-f]{6}\b/g, "<change>")
        .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "2026-01-01T00:00:00Z"),
    dispose: async () => rmSync(top, { recursive: true, force: true }),
  };
}

/** Leaves one change in the journal, for list_changes and undo_change; returns its id. */
async function changeSomething(root: string, journal: string): Promise<string> {
  const allowed = new DirectoryAllowlist({
    configured: [{ path: root, source: "argument" }],
    mode: "off",
  });
  const guard = createPathGuard(allowed);
  const files = openDomain({ guard, journalDirectories: [journal] });
  await writeFile(join(root, "changed.txt"), "before\n");
  const written = await files.write({
    path: "changed.txt",
    content: "after\n",
    mode: "overwrite",
    create_parents: false,
  });
  if (written.receipt?.changeId === undefined) throw new Error("the change was not journaled");
  return written.receipt.changeId;
}

/** A digest of names, types, modes, times of change and contents below a folder. */
function fingerprint(folder: string): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
    const path = join(folder, name);
    const stat = lstatSync(path);
    hash.update(`${name} ${stat.mode} ${stat.mtimeMs} ${stat.ino}\n`);
    if (stat.isFile()) hash.update(readFileSync(path));
    if (stat.isSymbolicLink()) hash.update(readlinkSync(path));
  }
  return hash.digest("hex");
}
