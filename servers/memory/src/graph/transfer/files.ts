import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { PathGuard } from "@refmcp/boundary";
import { grouped, sized, ToolError } from "@refmcp/boundary/answer";
import { unlessEmpty } from "../change/change.ts";
import { refuseLarge } from "../errors.ts";
import type { Caller, Memory } from "../thread/memory.ts";
import type { ChangeFacts } from "../types.ts";
import { type Format, type Reject, rejectsFile } from "./jsonl.ts";
import type { ImportFile } from "./notes.ts";

const SHOWN_REJECTS = 5;

/** Maximum number of files of a directory, and of bytes in all. */
const [MAX_FILES, MAX_TOTAL] = [20_000, 256 * 1024 * 1024];
const SHOWN_NOT_TAKEN = 10;
const NOTE = /\.(?:md|markdown)$/iu;

/**
 * Imports a file or a directory of notes below the allowed directories, or a text. Unreadable lines are written to
 * `PATH.rejects`, and the first few are in the answer, with what was not taken.
 *
 * @throws ToolError `invalid` if not exactly one of the two is given, or nothing can be imported; what the path guard throws.
 */
export async function importText(
  memory: Memory,
  { path, text }: { path: string | undefined; text: string | undefined },
  facts: ChangeFacts,
  caller: Caller,
) {
  if ((path === undefined) === (text === undefined)) {
    const which = path === undefined ? "Neither path nor text is" : "Both path and text are";
    throw new ToolError("invalid", `${which} given.`, {
      hint: "Pass path for a file or a directory of notes, or text for the lines themselves.",
    });
  }
  const { paths, official } = memory;
  const { given, ignored } =
    path === undefined
      ? { given: Buffer.from(text ?? "", "utf8"), ignored: [] }
      : path === official
        ? { given: await readFile(path), ignored: [] }
        : await readGiven(paths, path);
  const imported = await memory.run("importMemory", [given, facts], caller);
  const { rejects, notTaken, change_id, ...tally } = imported;
  const left = [...ignored, ...notTaken];
  return {
    ...tally,
    rejected: rejects.length,
    rejects: unlessEmpty(
      rejects
        .slice(0, SHOWN_REJECTS)
        .map((one) => ({ ...one, text: one.text.slice(0, 200).toWellFormed() })),
    ),
    rejects_file:
      rejects.length > 0 && path !== undefined
        ? await keepRejects(paths, path, rejects)
        : undefined,
    not_taken: unlessEmpty(left.slice(0, SHOWN_NOT_TAKEN)),
    not_taken_count: left.length > SHOWN_NOT_TAKEN ? left.length : undefined,
    change_id,
  };
}

/** The content of a file, or of the notes in a directory; `ignored` are its other files. */
async function readGiven(paths: PathGuard, path: string) {
  const directory = await paths.openDirectory(path).catch((error: unknown) => {
    if (error instanceof ToolError && error.code === "not_directory") return undefined;
    throw error;
  });
  await directory?.close();
  if (directory !== undefined) return readDirectory(paths, directory.path);
  const bytes = await readAllowed(paths, path);
  return { given: NOTE.test(path) ? [{ path: basename(path), bytes }] : bytes, ignored: [] };
}

async function readDirectory(paths: PathGuard, root: string) {
  const given: ImportFile[] = [];
  const ignored: string[] = [];
  let total = 0;
  const pending = [""];
  for (let below = pending.pop(); below !== undefined; below = pending.pop()) {
    const directory = await paths.openDirectory(join(root, below));
    const entries = await readdir(directory.entry(""), { withFileTypes: true }).finally(() =>
      directory.close(),
    );
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      // Settings and the trash of programs, and links, which could lead in circles.
      if (entry.name.startsWith(".")) continue;
      if (entry.isDirectory()) pending.push(path);
      else if (!entry.isFile() || !NOTE.test(path)) ignored.push(path);
      else {
        const bytes = await readAllowed(paths, join(root, path));
        total += bytes.length;
        if (given.push({ path, bytes }) > MAX_FILES || total > MAX_TOTAL)
          throw new ToolError(
            "too_large",
            `${root} has more than ${grouped(MAX_FILES)} notes or ${sized(MAX_TOTAL)}. Nothing was imported.`,
            { hint: "Import its subdirectories one by one." },
          );
      }
    }
  }
  if (given.length > 0) return { given, ignored };
  throw new ToolError("invalid", `${root} has no notes (.md).`, {
    hint: "Pass the directory of an Obsidian vault or of basic-memory's notes, or the path of a memory.jsonl.",
  });
}

async function readAllowed(paths: PathGuard, path: string): Promise<Uint8Array> {
  const file = await paths.openFile(path);
  try {
    refuseLarge(file.path, file.stat.size);
    return await file.handle.readFile();
  } finally {
    await file.handle.close();
  }
}

/** The import is already saved; if the location is not writable, only the file of rejects is missing. */
async function keepRejects(paths: PathGuard, path: string, rejects: readonly Reject[]) {
  try {
    return (await paths.writeFile(`${path}.rejects`, Buffer.from(rejectsFile(rejects)))).path;
  } catch (error) {
    if (error instanceof ToolError) return undefined;
    throw error;
  }
}

/**
 * Writes the graph to a new file below the allowed directories (for `markdown`, a new directory), or returns its text.
 *
 * @throws ToolError `too_large` for a text beyond the budget, `conflict` if the file exists; what the path guard throws.
 */
export async function exportText(
  memory: Memory,
  { format, path, budget }: { format: Format; path: string | undefined; budget: number },
  signal: AbortSignal,
) {
  if (format === "markdown") return exportDirectory(memory, path, signal);
  const text = await memory.run("exportGraph", [format], { signal });
  const content = Buffer.from(text, "utf8");
  if (path !== undefined) {
    signal.throwIfAborted();
    const written = await memory.paths.writeFile(path, content, { mode: "create" });
    return { format, bytes: content.length, path: written.path };
  }
  const remaining = budget - 200;
  if (JSON.stringify(text).length > remaining)
    throw new ToolError(
      "too_large",
      `The graph as ${format} is ${sized(content.length)}; a response can hold ${grouped(remaining)} characters.`,
      { hint: "Pass path to write it to a file, or read it in pages with read_graph." },
    );
  return { format, bytes: content.length, text };
}

async function exportDirectory(memory: Memory, path: string | undefined, signal: AbortSignal) {
  if (path === undefined)
    throw new ToolError(
      "invalid",
      "markdown writes one note for each entity, so it needs a path.",
      {
        hint: "Pass path for a new directory.",
      },
    );
  const { paths } = memory;
  const notes = await memory.run("exportNotes", [], { signal });
  const directory = await paths.resolve(path);
  if ((await paths.createDirectory(directory)).length === 0)
    throw new ToolError(
      "conflict",
      `${directory} already exists, and an export overwrites nothing.`,
      {
        hint: "Pass path for a new directory.",
      },
    );
  let bytes = 0;
  for (const note of notes) {
    signal.throwIfAborted();
    const content = Buffer.from(note.text, "utf8");
    await paths.writeFile(join(directory, note.path), content, { mode: "create" });
    bytes += content.length;
  }
  return { format: "markdown", bytes, path: directory, files: notes.length };
}
