import { isUtf8 } from "node:buffer";
import type { NewObservation } from "../store/writer.ts";
import type { Entity, ObservationRow, Relation } from "../types.ts";
import { textProblem } from "../write/change.ts";

/** An observation to import: with its own time (milliseconds since 1970) and source, if they are known. */
export type ImportedFact = Omit<NewObservation, "entityId" | "supersededBy"> & {
  /** The text of the observation that replaced it. */
  readonly replacedBy?: string | undefined;
};

/** An entity to import. */
export type ImportedEntity = Omit<Entity, "observations"> & {
  readonly facts: readonly ImportedFact[];
};

/** A line of a memory file, or why it is invalid. */
type Parsed =
  | { readonly kind: "entity"; readonly entity: ImportedEntity }
  | { readonly kind: "relation"; readonly relation: Relation }
  | { readonly kind: "rejected"; readonly reject: Reject };

/** What could not be read, with the line of the file, from 1. */
export type Reject = { readonly line: number; readonly reason: string; readonly text: string };

/**
 * Reads an official memory file, one JSON object on each line; a byte order mark, CRLF, blank lines and unknown fields do
 * no harm. Other lines are returned as rejected.
 */
export function* parseMemory(bytes: Uint8Array): Generator<Parsed> {
  for (let line = 1, start = 0; start < bytes.length; line++) {
    const newline = bytes.indexOf(0x0a, start);
    const part = bytes.subarray(start, newline === -1 ? bytes.length : newline);
    start += part.length + 1;
    const text = Buffer.from(part)
      .toString("utf8")
      .replace(/^\ufeff/u, "")
      .trim();
    if (text !== "") yield parseLine(part, text, line);
  }
}

function parseLine(bytes: Uint8Array, text: string, line: number): Parsed {
  if (!isUtf8(bytes)) return rejected(line, "it is not UTF-8", text);
  try {
    return classify(JSON.parse(text));
  } catch (error) {
    if (error instanceof InvalidLine) return rejected(line, error.message, text);
    if (error instanceof SyntaxError)
      return rejected(line, "it is not JSON (cut off or damaged)", text);
    throw error;
  }
}

/** Why a line is neither an entity nor a relation. */
class InvalidLine extends Error {}

/** @throws InvalidLine */
function classify(value: unknown): Parsed {
  if (!isRecord(value)) throw new InvalidLine("it is not an object");
  if (value.type === "entity") return { kind: "entity", entity: entityOf(value) };
  if (value.type === "relation") return { kind: "relation", relation: relationOf(value) };
  const type = JSON.stringify(value.type) ?? "missing";
  throw new InvalidLine(`its type is ${type}, not "entity" or "relation"`);
}

function entityOf(value: Record<string, unknown>): ImportedEntity {
  const { observations = [], learned, source, superseded = [] } = value;
  const name = textOf("name", value.name, "name");
  const entityType = textOf("type", value.entityType, "entityType");
  if (!Array.isArray(observations)) throw new InvalidLine("observations is not a list");
  // After an edit by a program that does not know these lists, nobody knows which is whose.
  const at = (field: unknown, index: number): unknown => {
    if (!Array.isArray(field)) return field;
    return field.length === observations.length ? field[index] : undefined;
  };
  const current = observations.map((text: unknown, index) => ({
    content: textOf("observation", text, `observations.${index}`),
    ...originOf(at(learned, index), at(source, index)),
  }));
  // Fields with these names may be another program's.
  const old = (Array.isArray(superseded) ? superseded : []).flatMap((one: unknown, index) => {
    const until = isRecord(one) ? timeOf(one.until) : undefined;
    if (!isRecord(one) || until === undefined) return [];
    const content = textOf("observation", one.content, `superseded.${index}.content`);
    const replacedBy = typeof one.replaced_by === "string" ? one.replaced_by : undefined;
    return [{ content, ...originOf(one.learned, one.source), supersededAt: until, replacedBy }];
  });
  return { name, entityType, facts: [...old, ...current] };
}

function originOf(learned: unknown, source: unknown): Pick<ImportedFact, "createdAt" | "source"> {
  const createdAt = timeOf(learned);
  const isSource = typeof source === "string" && source.trim() !== "" && source.length <= 500;
  return {
    ...(createdAt === undefined ? {} : { createdAt }),
    // A fact whose time is known keeps that it has no source.
    ...(isSource
      ? { source: source.toWellFormed() }
      : createdAt === undefined
        ? {}
        : { source: null }),
  };
}

function timeOf(value: unknown): number | undefined {
  const time =
    typeof value === "string" && /^\d{4}-\d{2}-\d{2}T/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

function relationOf(value: Record<string, unknown>): Relation {
  return {
    from: textOf("name", value.from, "from"),
    to: textOf("name", value.to, "to"),
    relationType: textOf("type", value.relationType, "relationType"),
  };
}

function textOf(kind: "name" | "type" | "observation", value: unknown, field: string): string {
  if (typeof value !== "string")
    throw new InvalidLine(`${field} is ${value === undefined ? "missing" : "not text"}`);
  const problem = textProblem(kind, value);
  if (problem !== undefined) throw new InvalidLine(`${field}: ${problem}`);
  return value.toWellFormed();
}

function rejected(line: number, reason: string, text: string): Parsed {
  return { kind: "rejected", reject: { line, reason, text } };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * An entity's line as the official server writes it: these fields in this order. More fields, which that server ignores, keep when
 * and from whom each observation was learned (one value if all are the same), and the superseded ones.
 */
export function entityLine(
  { name, type }: { readonly name: string; readonly type: string },
  rows: readonly ObservationRow[],
): string {
  const current = rows.filter(({ supersededAt }) => supersededAt === null);
  const old = rows.filter(({ supersededAt }) => supersededAt !== null);
  return JSON.stringify({
    type: "entity",
    name,
    entityType: type,
    observations: current.map(({ content }) => content),
    learned: shared(current.map(({ createdAt }) => isoTime(createdAt))),
    source: shared(current.map(({ source }) => source)),
    superseded:
      old.length === 0
        ? undefined
        : old.map(({ content, createdAt, supersededAt, supersededBy, source }) => ({
            content,
            learned: isoTime(createdAt),
            until: isoTime(supersededAt ?? createdAt),
            replaced_by: rows.find(({ id }) => id === supersededBy)?.content,
            source: source ?? undefined,
          })),
  });
}

const isoTime = (time: number) => new Date(time).toISOString();

/** One value if all are the same; undefined if there is none. */
function shared(
  values: readonly (string | null)[],
): readonly (string | null)[] | string | undefined {
  const [first = null] = values;
  return values.some((value) => value !== first) ? values : (first ?? undefined);
}

/** A relation's line as the official server writes it. */
export function relationLine({ from, to, relationType }: Relation): string {
  return JSON.stringify({ type: "relation", from, to, relationType });
}

/** The content of a `.rejects` file: one JSON object on each line, with the line of the source, the reason and the text. */
export function rejectsFile(rejects: readonly Reject[]): string {
  return rejects.map((reject) => `${JSON.stringify(reject)}\n`).join("");
}
