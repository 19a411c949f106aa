import { ToolError } from "@refmcp/boundary/answer";
import { textProblem } from "../change/change.ts";
import type { Parsed } from "./jsonl.ts";
import { DEFAULT_TYPE, type Note, parseNote } from "./note.ts";
import { NoteNames } from "./note-names.ts";

/** A file to import. */
export interface ImportFile {
  /** Below the imported directory, with `/`; only the name for a single file. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/**
 * Reads Markdown notes of basic-memory or Obsidian, one entity each. A file of a directory that cannot be used is reported as not
 * taken.
 *
 * @throws ToolError `invalid` if the only file cannot be used.
 */
export function* parseNotes(files: readonly ImportFile[]): Generator<Parsed> {
  const notes: { path: string; note: Note }[] = [];
  for (const { path, bytes } of files) {
    try {
      notes.push({ path, note: parseNote(textOf(path, bytes)) });
    } catch (error) {
      if (!(error instanceof ToolError) || files.length === 1) throw error;
      yield { kind: "not taken", what: `${path}: ${error.message}` };
    }
  }
  yield* entitiesOf(notes);
}

function textOf(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ToolError("invalid", `${path} is not UTF-8.`, {
      hint: "Save it as UTF-8 and import it again.",
      cause,
    });
  }
}

function* entitiesOf(
  notes: readonly { readonly path: string; readonly note: Note }[],
): Generator<Parsed> {
  const more = notes.filter(({ note }) => note.hasMore).length;
  if (more > 0)
    yield {
      kind: "not taken",
      what: `code, tables and HTML in ${more} ${more === 1 ? "note" : "notes"}`,
    };
  const names = new NoteNames();
  const named = notes.map(({ path, note }) => ({ path, note, name: names.add(path, note) }));
  for (const { path, note, name } of named) {
    const seen = new Set<string>();
    const contents = [
      ...note.facts.flatMap((fact) => (fact.kind === "observation" ? [fact.content] : [])),
      ...note.prose.map((text) => text.toWellFormed()),
    ];
    const facts = contents.flatMap((content) => {
      if (seen.has(content) || textProblem("observation", content) !== undefined) return [];
      seen.add(content);
      return [{ content, source: path.slice(0, 500).toWellFormed() }];
    });
    yield { kind: "entity", entity: { name, entityType: note.type ?? DEFAULT_TYPE, facts } };
    for (const fact of note.facts)
      if (fact.kind === "relation") {
        const to = names.resolve(fact.target);
        if (to !== name || fact.own)
          yield { kind: "relation", relation: { from: name, to, relationType: fact.type } };
      }
  }
}
