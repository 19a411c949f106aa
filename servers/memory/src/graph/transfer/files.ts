import type { PathGuard } from "@refmcp/boundary";
import { digits, sizeOf, ToolError } from "@refmcp/boundary/answer";
import { refuseLarge } from "../errors.ts";
import type { Store } from "../store/store.ts";
import type { ChangeFacts } from "../types.ts";
import { unlessEmpty } from "../write/change.ts";
import { exportLines, exportMarkdown } from "./export.ts";
import { importMemory } from "./import.ts";

const [MAX_REJECTS, MAX_REJECTED_TEXT] = [20, 200];

/**
 * Imports a file below the allowed directories, or a text. The first unreadable lines are in the answer.
 *
 * @throws ToolError `invalid` if not exactly one of the two is given; what the path guard throws.
 */
export async function importText(
  store: Store,
  paths: PathGuard,
  { path, text }: { path: string | undefined; text: string | undefined },
  facts: ChangeFacts,
) {
  if ((path === undefined) === (text === undefined)) {
    const which = path === undefined ? "Neither path nor text is" : "Both path and text are";
    throw new ToolError("invalid", `${which} given.`, {
      hint: "Pass path for a file, or text for the lines themselves.",
    });
  }
  const bytes = path === undefined ? Buffer.from(text ?? "") : await readAllowed(paths, path);
  const { rejects, change_id, ...tally } = await importMemory(store, bytes, facts);
  const firstRejects = rejects.slice(0, MAX_REJECTS).map((reject) => ({
    ...reject,
    text: reject.text.slice(0, MAX_REJECTED_TEXT).toWellFormed(),
  }));
  return { ...tally, rejected: rejects.length, rejects: unlessEmpty(firstRejects), change_id };
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

/**
 * Writes the graph to a new file below the allowed directories, or returns the text of a small one.
 *
 * @throws ToolError `too_large` for a text beyond the budget, `conflict` if the file exists; what the path guard throws.
 */
export async function exportText(
  store: Store,
  paths: PathGuard,
  {
    format,
    path,
    budget,
    signal,
  }: {
    format: "jsonl" | "markdown";
    path: string | undefined;
    budget: number;
    signal: AbortSignal;
  },
) {
  const text = format === "jsonl" ? await exportLines(store) : await exportMarkdown(store);
  const content = Buffer.from(text, "utf8");
  if (path !== undefined) {
    signal.throwIfAborted();
    const written = await paths.writeFile(path, content, { mode: "create" });
    return { format, bytes: content.length, path: written.path };
  }
  const remaining = budget - 200;
  if (JSON.stringify(text).length > remaining)
    throw new ToolError(
      "too_large",
      `The graph as ${format} is ${sizeOf(content.length)}; a response can hold ${digits(remaining)} characters.`,
      { hint: "Pass path to write it to a file, or read it in pages with read_graph." },
    );
  return { format, bytes: content.length, text };
}
