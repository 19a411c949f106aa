import { readFile } from "node:fs/promises";
import type { PathGuard } from "@refmcp/boundary";
import { grouped, sized, ToolError } from "@refmcp/boundary/answer";
import { unlessEmpty } from "../change/change.ts";
import { refuseLarge } from "../errors.ts";
import type { Caller, Memory } from "../thread/memory.ts";
import type { ChangeFacts } from "../types.ts";
import { type Format, type Reject, rejectsFile } from "./jsonl.ts";

const SHOWN_REJECTS = 5;

/**
 * Imports a file below the allowed directories, or a text. Unreadable lines are written to `PATH.rejects`, and the first few
 * are in the answer.
 *
 * @throws ToolError `invalid` if not exactly one of the two is given; what the path guard throws.
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
      hint: "Pass path for a file, or text for the lines themselves.",
    });
  }
  const { paths, official } = memory;
  const read = (file: string) => (file === official ? readFile(file) : readAllowed(paths, file));
  const bytes = path === undefined ? Buffer.from(text ?? "", "utf8") : await read(path);
  const { rejects, change_id, ...tally } = await memory.run("importMemory", [bytes, facts], caller);
  return {
    ...tally,
    rejected: rejects.length,
    rejects: unlessEmpty(
      rejects.slice(0, SHOWN_REJECTS).map((one) => ({ ...one, text: one.text.slice(0, 200).toWellFormed() })),
    ),
    rejects_file:
      rejects.length > 0 && path !== undefined ? await keepRejects(paths, path, rejects) : undefined,
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
 * Writes the graph to a new file below the allowed directories, or returns its text.
 *
 * @throws ToolError `too_large` for a text beyond the budget, `conflict` if the file exists; what the path guard throws.
 */
export async function exportText(
  memory: Memory,
  { format, path, budget }: { format: Format; path: string | undefined; budget: number },
  signal: AbortSignal,
) {
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
