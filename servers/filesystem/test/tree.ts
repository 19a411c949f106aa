import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { createPathGuard, DirectoryAllowlist, type PathGuard } from "@refmcp/boundary";
import { onTestFinished } from "vitest";

/** The entries of a tree: text or bytes for a file, `{ link }` for a link, null for an empty directory. */
export type TreeContent = Readonly<Record<string, string | Uint8Array | { link: string } | null>>;

export interface Tree {
  /** The allowed directory, a real path. */
  readonly root: string;
  /** A sibling directory that is not allowed. */
  readonly outside: string;
  readonly guard: PathGuard;
  /** The absolute path of something in the tree. */
  at(...path: string[]): string;
  /** Adds to the tree; paths are below the root, or begin with `outside/`. */
  add(content: TreeContent): Promise<void>;
}

/** A real tree in a temporary folder, removed when the test is over. */
export async function makeTree(
  content: TreeContent,
  options: { verification?: "proc" | "portable" } = {},
): Promise<Tree> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "refmcp-tree-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const root = join(folder, "root");
  const outside = join(folder, "outside");
  await mkdir(root);
  await mkdir(outside);
  const allowed = new DirectoryAllowlist({
    mode: "off",
    configured: [{ path: root, source: "argument" }],
  });
  const tree: Tree = {
    root,
    outside,
    guard: createPathGuard(allowed, options.verification),
    at: (...path) => join(root, ...path),
    async add(more) {
      for (const [path, value] of Object.entries(more)) {
        const absolute = path.startsWith("outside/") ? join(folder, path) : join(root, path);
        if (value === null) {
          await mkdir(absolute, { recursive: true });
          continue;
        }
        await mkdir(dirname(absolute), { recursive: true });
        if (typeof value === "object" && "link" in value) await symlink(value.link, absolute);
        else await writeFile(absolute, value);
      }
    },
  };
  await tree.add(content);
  return tree;
}

/** Every entry below a directory with its content: a file's text, a link's target, `directory`. */
export async function snapshot(directory: string): Promise<Record<string, string>> {
  const contents: Record<string, string> = {};
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const content = entry.isDirectory()
      ? "directory"
      : entry.isSymbolicLink()
        ? `→ ${await readlink(path)}`
        : await readFile(path, "latin1");
    contents[relative(directory, path)] = content;
  }
  return contents;
}

/** The lines of a listing, and what its last line says. */
export function listed(answer: string) {
  const lines = answer.split("\n");
  const facts = lines.pop() ?? "";
  return { lines, facts, cursor: /cursor="([^"]+)"/.exec(facts)?.[1] };
}
