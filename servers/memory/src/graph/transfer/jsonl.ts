import { isUtf8 } from "node:buffer";
import * as z from "zod";
import type { NewObservation } from "../store/writer.ts";
import { storable } from "../text.ts";
import type { Entity, ObservationRow, Relation } from "../types.ts";
import { type TextKind, textProblem } from "../write/change.ts";

/** An observation to import: with its own time (milliseconds since 1970) and source, if they are known. */
type ImportedFact = Omit<NewObservation, "entityId">;

/** An entity to import. */
export type ImportedEntity = Omit<Entity, "observations"> & {
  readonly facts: readonly ImportedFact[];
};

/** What could not be read, with the line of the file, from 1. */
export type Reject = { readonly line: number; readonly reason: string; readonly text: string };

/** A line of a memory file, or why it is invalid. */
type Parsed =
  | { readonly kind: "entity"; readonly entity: ImportedEntity }
  | { readonly kind: "relation"; readonly relation: Relation }
  | { readonly kind: "rejected"; readonly reject: Reject };

const text = (kind: TextKind) =>
  z
    .string()
    .superRefine((value, context) => {
      const problem = textProblem(kind, value);
      if (problem !== undefined) context.addIssue(problem);
    })
    .transform(storable);

// Fields with these names may be another program's; then they are ignored.
const learned = z.array(z.iso.datetime().transform(Date.parse)).catch([]);
const source = z.array(z.string().min(1).max(500).transform(storable).nullable()).catch([]);

const LINE = z.discriminatedUnion(
  "type",
  [
    z.object({
      type: z.literal("entity"),
      name: text("name"),
      entityType: text("type"),
      observations: z.array(text("observation")).default([]),
      learned,
      source,
    }),
    z.object({
      type: z.literal("relation"),
      from: text("name"),
      to: text("name"),
      relationType: text("type"),
    }),
  ],
  { error: 'neither "entity" nor "relation"' },
);

/**
 * Reads an official memory file, one JSON object on each line; a byte order mark, CRLF, blank lines and unknown fields do
 * no harm. Other lines are returned as rejected.
 */
export function* parseMemory(bytes: Uint8Array): Generator<Parsed> {
  for (let line = 1, start = 0; start < bytes.length; line++) {
    const newline = bytes.indexOf(0x0a, start);
    const part = bytes.subarray(start, newline === -1 ? bytes.length : newline);
    start += part.length + 1;
    const trimmed = Buffer.from(part)
      .toString("utf8")
      .replace(/^\ufeff/u, "")
      .trim();
    if (trimmed === "") continue;
    const parsed = isUtf8(part) ? parseLine(trimmed) : "it is not UTF-8";
    yield typeof parsed === "string"
      ? { kind: "rejected", reject: { line, reason: parsed, text: trimmed } }
      : parsed;
  }
}

/** An entity or a relation, or the reason why a line is neither. */
function parseLine(line: string): Parsed | string {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return "it is not JSON (cut off or damaged)";
  }
  const { data, error } = LINE.safeParse(json);
  if (data === undefined) {
    const [issue] = error.issues;
    return `${issue?.path.join(".") || "the line"}: ${issue?.message}`;
  }
  const { type, ...fields } = data;
  if (!("name" in fields)) return { kind: "relation", relation: fields };
  const { name, entityType, observations } = fields;
  // After an edit by a program that does not know these lists, nobody knows which is whose.
  const at = <Item>(list: readonly Item[], index: number) =>
    list.length === observations.length ? list[index] : undefined;
  const facts = observations.map((content, index) => ({
    content,
    createdAt: at(fields.learned, index),
    source: at(fields.source, index),
  }));
  return { kind: "entity", entity: { name, entityType, facts } };
}

/**
 * An entity's line as the official server writes it: these fields in this order. Two more, which that server ignores, have
 * when and from whom each observation was learned.
 */
export function entityLine(
  { name, type }: { readonly name: string; readonly type: string },
  facts: readonly ObservationRow[],
): string {
  return JSON.stringify({
    type: "entity",
    name,
    entityType: type,
    observations: facts.map(({ content }) => content),
    learned: facts.map(({ createdAt }) => new Date(createdAt).toISOString()),
    source: facts.map((fact) => fact.source),
  });
}

/** A relation's line as the official server writes it. */
export function relationLine({ from, to, relationType }: Relation): string {
  return JSON.stringify({ type: "relation", from, to, relationType });
}
