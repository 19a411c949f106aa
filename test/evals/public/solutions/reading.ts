import type { CallTool } from "@refmcp/testing";

/** A file of list_directory_with_sizes. */
export interface Listed {
  readonly name: string;
  readonly size: number;
  readonly modified: string;
}

/** The files of a directory, without those that macOS hides. */
export async function filesOf(call: CallTool, path: string): Promise<Listed[]> {
  const listing = await call("list_directory_with_sizes", { path, limit: 1_000 });
  return [...listing.matchAll(/^\[FILE\] (\d+) (\S+) (.+)$/gm)]
    .map(([, size, modified = "", name = ""]) => ({ name, size: Number(size), modified }))
    .filter(({ name }) => name !== ".DS_Store");
}

/** The exact content of files by their path, and their hash, read in one call. */
export async function contentsOf(
  call: CallTool,
  paths: readonly string[],
): Promise<Map<string, { content: string; hash: string }>> {
  const text = await call("read_multiple_files", { paths });
  const mark = /^\[Lines that begin with "(=== \w+)"/.exec(text)?.[1] ?? "===";
  const contents = new Map<string, { content: string; hash: string }>();
  for (const part of text.split(`\n${mark} `).slice(1)) {
    const [header = "", ...lines] = part.split("\n");
    const [, path = "", facts = ""] = /^\d+\/\d+ (.+?) \[(.*)\]$/.exec(header) ?? [];
    const end = facts.includes("No newline at the end of the file") ? "" : "\n";
    const hash = /hash (\w+)/.exec(facts)?.[1] ?? "";
    if (path !== "") contents.set(path, { content: lines.join("\n") + end, hash });
  }
  return contents;
}

/** The exact content of a file, read page by page. */
export async function wholeFile(call: CallTool, path: string): Promise<string> {
  let content = "";
  let next: Record<string, number> = {};
  for (;;) {
    const page = await call("read_text_file", { path, ...next });
    const [, text = "", note = ""] = /^(.*?)\n?\n\[([^\n]*)\]$/s.exec(page) ?? [];
    const [, offset, column] = /Continue with offset=(\d+)(?: column=(\d+))?/.exec(note) ?? [];
    content += text;
    if (offset === undefined)
      return note.includes("No newline at the end of the file") ? content : `${content}\n`;
    if (column === undefined) content += "\n";
    next = { offset: Number(offset), ...(column !== undefined && { column: Number(column) }) };
  }
}
