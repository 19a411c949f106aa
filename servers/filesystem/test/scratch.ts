import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createPathGuard, DirectoryAllowlist, withHidden } from "@refmcp/boundary";
import { onTestFinished } from "vitest";
import { type Plan, planDeletion, planDirectory, planMoves } from "../src/files/change/plan.ts";
import { run } from "../src/files/change/run.ts";
import type { RunOptions } from "../src/files/change/step.ts";
import { undo } from "../src/files/change/undo.ts";
import { compareFiles } from "../src/files/edit/compare.ts";
import { edit, editMany } from "../src/files/edit/edit.ts";
import { type WriteRequest, write } from "../src/files/edit/write.ts";
import { closeFiles, type Files, openFiles } from "../src/files/files.ts";
import { getInfo } from "../src/files/read/info.ts";
import { readMedia } from "../src/files/read/media.ts";
import { readMany } from "../src/files/read/read-many.ts";
import { readText } from "../src/files/read/read-text.ts";
import { completePath, readTail, readWhole } from "../src/files/read/resource.ts";
import { searchText } from "../src/files/search/search.ts";
import { hiddenPlaces } from "../src/files/store/trash.ts";
import { drawTree } from "../src/files/tree/directory-tree.ts";
import { listDirectory } from "../src/files/tree/list-directory.ts";
import { newestFiles } from "../src/files/tree/newest-files.ts";
import { searchNames } from "../src/files/tree/search-names.ts";

/** A temporary allowed directory with the domain; both are removed after the test. */
export interface Scratch {
  /** Absolute real path of the allowed directory. */
  readonly root: string;
  /** Absolute real path of a sibling directory that is not allowed. */
  readonly outside: string;
  /** The server's state directory. */
  readonly state: string;
  /** The journal in it. */
  readonly journalDirectory: string;
  readonly files: Domain;
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
  another(options?: { journalDays?: number }): Domain;
}

interface ScratchOptions {
  readonly journalDays?: number;
  readonly writable?: boolean;
}

/** An allowlist of these directories. */
export function allowlist(...paths: string[]): DirectoryAllowlist {
  return new DirectoryAllowlist({
    configured: paths.map((path) => ({ path, source: "argument" })),
    mode: "narrow",
  });
}

/** A request to overwrite a file. */
export function request(path: string, content: string, more: Partial<WriteRequest> = {}) {
  return { path, content, mode: "overwrite", create_parents: false, ...more } as const;
}

type Single = Omit<Parameters<typeof planMoves>[1], "action" | "moves"> & RunOptions;

/** The domain's functions with their first argument. */
export function bound(files: Files) {
  const bind =
    <Rest extends unknown[], Result>(work: (files: Files, ...rest: Rest) => Result) =>
    (...rest: Rest) =>
      work(files, ...rest);
  const runPlan = (plan: Pick<Plan, "subject" | "steps">, options: RunOptions = {}) =>
    run(files, plan.subject, plan.steps, options);
  const single = async (action: "move" | "copy", { progress, ...request }: Single) => {
    const plan = await planMoves(files, { ...request, action });
    const { receipt, outcomes } = await runPlan(plan, { progress, signal: request.signal });
    return { receipt, ...outcomes.at(-1) };
  };
  return {
    ...files,
    readText: bind(readText),
    readMany: bind(readMany),
    readMedia: bind(readMedia),
    readWhole: bind(readWhole),
    readTail: bind(readTail),
    newestFiles: bind(newestFiles),
    completePath: bind(completePath),
    info: bind(getInfo),
    list: bind(listDirectory),
    tree: bind(drawTree),
    searchNames: bind(searchNames),
    searchText: bind(searchText),
    compare: bind(compareFiles),
    write: bind(write),
    edit: bind(edit),
    editMany: bind(editMany),
    plan: bind(planMoves),
    runPlan,
    move: (request: Single) => single("move", request),
    copy: (request: Single) => single("copy", request),
    createDirectory: async (path: string) => runPlan(await planDirectory(files, path)),
    delete: async (path: string, recursive = true) =>
      runPlan(await planDeletion(files, path, { recursive })),
    changes: (limit = 100) => files.store.list({ limit }),
    undo: bind(undo),
    watch: (path: string, changed: () => void) => files.watchers.watch(path, changed),
    close: () => closeFiles(files),
  };
}

export type Domain = ReturnType<typeof bound>;

export const openDomain = (options: Parameters<typeof openFiles>[0]): Domain =>
  bound(openFiles(options));

/** Call it inside a test or a hook of one. */
export async function scratch(options: ScratchOptions = {}): Promise<Scratch> {
  const { dispose, ...rest } = await openScratch(options);
  onTestFinished(dispose);
  return rest;
}

/** The same for several tests; `dispose` removes it. */
export async function openScratch(
  options: ScratchOptions = {},
): Promise<Scratch & { dispose(): Promise<void> }> {
  const top = await realpath(await mkdtemp(join(tmpdir(), "refmcp-files-")));
  const [root, outside, state] = [join(top, "root"), join(top, "outside"), join(top, "state")];
  await mkdir(root);
  await mkdir(outside);
  const allowed = new DirectoryAllowlist({
    configured: [{ path: root, source: "argument", writable: options.writable ?? true }],
    mode: "narrow",
  });
  const hidden = hiddenPlaces([state]);
  const guard = createPathGuard(withHidden(allowed, hidden));
  const another = ({ journalDays = 30 } = {}) =>
    openDomain({ guard, journalDays, journalDirectories: [state] });
  const at = (...parts: string[]) => join(root, ...parts);
  return {
    dispose: () => rm(top, { recursive: true, force: true }),
    root,
    outside,
    state,
    journalDirectory: join(state, "journal"),
    files: another({ journalDays: options.journalDays ?? 30 }),
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
      (await readdir(at(name))).filter((entry) => entry !== ".refmcp-trash").sort(),
  };
}
