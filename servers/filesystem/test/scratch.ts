import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createPathGuard, DirectoryAllowlist, withHidden } from "@refmcp/boundary";
import { onTestFinished } from "vitest";
import { type Files, openFiles } from "../src/files/files.ts";
import { hiddenPlaces } from "../src/files/trash/trash.ts";

/** A temporary allowed directory with the domain; both are removed after the test. */
export interface Scratch {
  /** Absolute real path of the allowed directory. */
  readonly root: string;
  /** Absolute real path of a sibling directory that is not allowed. */
  readonly outside: string;
  /** The server's state directory. */
  readonly state: string;
  /** The journal of the root in it. */
  readonly journalDirectory: string;
  readonly files: Files;
  /** Absolute path of something in the root. */
  at(...parts: string[]): string;
  /** Writes a file in the root and its parents; returns its absolute path. */
  put(name: string, content: string | Uint8Array): Promise<string>;
  /** The content of a file in the root, as UTF-8. */
  read(name: string): Promise<string>;
  bytes(name: string): Promise<Buffer>;
  /** Names in a directory of the root, sorted, hidden ones too. */
  list(name?: string): Promise<string[]>;
  /** Another domain on the same root and journal, as a second server process would have. */
  another(options?: { journal?: boolean }): Files;
}

interface ScratchOptions {
  readonly journal?: boolean;
  readonly writable?: boolean;
  /** false: files stand where the trash would be, so nothing can be moved there. */
  readonly trash?: boolean;
}

/** Call it inside a test or a hook of one. */
export async function scratch(options: ScratchOptions = {}): Promise<Scratch> {
  const { dispose, ...made } = await openScratch(options);
  onTestFinished(dispose);
  return made;
}

/** The same for several tests; `dispose` removes it. */
export async function openScratch(
  options: ScratchOptions = {},
): Promise<Scratch & { dispose(): Promise<void> }> {
  const top = await realpath(await mkdtemp(join(tmpdir(), "refmcp-files-")));
  const [root, outside, state] = [join(top, "root"), join(top, "outside"), join(top, "state")];
  await mkdir(root);
  await mkdir(outside);
  if (options.trash === false) {
    await mkdir(state);
    for (const path of [join(state, "trash"), join(root, ".refmcp-trash")])
      await writeFile(path, "");
  }
  const allowed = new DirectoryAllowlist({
    configured: [{ path: root, source: "argument", writable: options.writable ?? true }],
    mode: "narrow",
  });
  const hidden = hiddenPlaces([state]);
  const guard = createPathGuard(withHidden(allowed, hidden));
  const another = ({ journal = true } = {}) =>
    openFiles({ guard, journal, journalDirectories: [state], maxReadChars: 80_000 });
  const at = (...parts: string[]) => join(root, ...parts);
  return {
    dispose: () => rm(top, { recursive: true, force: true }),
    root,
    outside,
    state,
    journalDirectory: join(
      state,
      "journal",
      createHash("sha256").update(root).digest("hex").slice(0, 16),
    ),
    files: another({ journal: options.journal ?? true }),
    another,
    at,
    async put(name, content) {
      await mkdir(dirname(at(name)), { recursive: true });
      await writeFile(at(name), content);
      return at(name);
    },
    read: (name) => readFile(at(name), "utf8"),
    bytes: (name) => readFile(at(name)),
    list: async (name = "") =>
      (await readdir(at(name))).filter((one) => one !== ".refmcp-trash").sort(),
  };
}
