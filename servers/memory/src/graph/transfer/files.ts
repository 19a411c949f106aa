import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { PathGuard } from "@refmcp/boundary";
import { grouped, sized, ToolError } from "@refmcp/boundary/answer";
import { refuseLarge } from "../errors.ts";
import type { Store } from "../store/store.ts";
import type { ChangeFacts } from "../types.ts";
import { unlessEmpty } from "../write/change.ts";
import { exportLines, exportNotes } from "./export.ts";
import { importMemory } from "./import.ts";
import { type Reject, rejectsFile } from "./jsonl.ts";

const SHOWN_REJECTS = 5;

/** The directories that may be accessed, and a file that may be imported without being in one of them. */
type Places = { readonly paths: PathGuard; readonly official: string | undefined };

/**
 * Imports a file below the allowed directories, or a text. Unreadable lines are written to `PATH.rejects`, and the first
 * few are in the answer.
 *
 * @throws ToolError `invalid` if not exactly one of the two is given; what the path guard throws.
 */
export async function importText(
  store: Store,
  { paths, official }: Places,
  { path, text }: { path: string | undefined; text: string | undefined },
  facts: ChangeFacts,
) {
  if ((path === undefined) === (text === undefined)) {
    const which = path === undefined ? "Neither path nor text is" : "Both path and text are";
    throw new ToolError("invalid", `${which} given.`, {
      hint: "Pass path for a file, or text for the lines themselves.",
    });
  }
  const bytes =
    path === undefined
      ? Buffer.from(text ?? "", "utf8")
      : path === official
        ? await readFile(path)
        : await readAllowed(paths, path);
  const { rejects, change_id, ...tally } = await importMemory(store, bytes, facts);
  const shown = rejects
    .slice(0, SHOWN_REJECTS)
    .map((reject) => ({ ...reject, text: reject.text.slice(0, 200).toWellFormed() }));
  return {
    ...tally,
    rejected: rejects.length,
    rejects: unlessEmpty(shown),
    rejects_file:
      rejects.length > 0 && path !== undefined
        ? await keepRejects(paths, path, rejects)
        : undefined,
    change_id,
  };
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
 * Writes the graph as lines of JSON to a new file below the allowed directories, or returns the text of a small one.
 *
 * @throws ToolError `too_large` for a text beyond the budget, `conflict` if the file exists; what the path guard throws.
 */
export async function exportText(
  store: Store,
  paths: PathGuard,
  { path, budget, signal }: { path: string | undefined; budget: number; signal: AbortSignal },
) {
  const text = await exportLines(store);
  const content = Buffer.from(text, "utf8");
  if (path !== undefined) {
    signal.throwIfAborted();
    const written = await paths.writeFile(path, content, { mode: "create" });
    return { format: "jsonl", bytes: content.length, path: written.path };
  }
  const remaining = budget - 200;
  if (JSON.stringify(text).length > remaining)
    throw new ToolError(
      "too_large",
      `The graph as jsonl is ${sized(content.length)}; a response can hold ${grouped(remaining)} characters.`,
      { hint: "Pass path to write it to a file, or read it in pages with read_graph." },
    );
  return { format: "jsonl", bytes: content.length, text };
}

/**
 * Writes the graph as Markdown notes to a new directory below the allowed ones.
 *
 * @throws ToolError `invalid` without a path, `conflict` if it exists; what the path guard throws.
 */
export async function exportDirectory(
  store: Store,
  paths: PathGuard,
  path: string | undefined,
  signal: AbortSignal,
) {
  const hint = "Pass path for a new directory.";
  if (path === undefined)
    throw new ToolError(
      "invalid",
      "markdown writes one note for each entity, so it needs a path.",
      { hint },
    );
  const notes = await exportNotes(store);
  const directory = await paths.resolve(path);
  if ((await paths.createDirectory(directory)).length === 0)
    throw new ToolError(
      "conflict",
      `${directory} already exists, and an export overwrites nothing.`,
      { hint },
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
