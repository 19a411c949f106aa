import { quote } from "../read/names.ts";
import type { Writer } from "../store/store.ts";
import { compact, foldedName, isOneEditApart } from "../text.ts";
import { unlessEmpty } from "./change.ts";

/** How many new names are compared with names a letter away, and with how many each. */
const [MAX_COMPARED, MAX_CANDIDATES] = [20, 500];
/** How many types are compared with a new one. */
const MAX_TYPES = 500;
const MAX_SHOWN = 20;

/** A new name or type, and the existing one that it may be meant for. */
type Similar = { readonly name: string; readonly existing: string };

/** What an answer says about names and types that resemble existing ones. */
export interface SimilarNames {
  /** New names that differ from an existing one only by case, blanks, punctuation, accents or one letter. */
  readonly similar?: Similar[] | undefined;
  /** New types that are another spelling of an existing one. */
  readonly similar_types?: Similar[] | undefined;
  /** How to merge them. */
  readonly note?: string | undefined;
}

/**
 * Compares entities that were just created with the others.
 *
 * @param fresh the new entities, in the order of their creation
 */
export async function similarEntities(
  writer: Writer,
  fresh: readonly { readonly name: string; readonly entityType: string }[],
): Promise<SimilarNames> {
  const names = fresh.map(({ name }) => name);
  const similar = await similarNames(writer, names);
  const types = await similarTypes(
    writer,
    "entity",
    fresh.map(({ entityType }) => entityType),
  );
  const [first] = similar;
  const [type] = types;
  const retyped = fresh.find(({ entityType }) => entityType === type?.name)?.name;
  const notes = [
    first && `If they are the same, merge them: update_entities ${mergeOf(first)}`,
    type &&
      `The existing type is ${quote(type.existing)}: update_entities ${JSON.stringify({ updates: [{ name: retyped, new_type: type.existing }] })}`,
  ].filter((note) => note !== undefined);
  return {
    similar: unlessEmpty(similar),
    similar_types: unlessEmpty(types),
    note: notes.join(" ") || undefined,
  };
}

const mergeOf = ({ name, existing }: Similar) =>
  JSON.stringify({ updates: [{ name, merge_into: existing }] });

/** Compares the types of relations that were just created with those of the others. */
export async function similarRelationTypes(
  writer: Writer,
  fresh: readonly string[],
): Promise<SimilarNames> {
  const types = await similarTypes(writer, "relation", fresh);
  const [first] = types;
  return {
    similar_types: unlessEmpty(types),
    note:
      first &&
      `The existing relation type is ${quote(first.existing)}: undo this change with undo_memory_change, and use that.`,
  };
}

async function similarNames(writer: Writer, fresh: readonly string[]): Promise<Similar[]> {
  const alike = new Map<string, string[]>();
  for (const { name } of await writer.entitiesSpelledLike(fresh.map(foldedName)))
    alike.set(foldedName(name), [...(alike.get(foldedName(name)) ?? []), name]);
  const found: Similar[] = [];
  const lastAt = new Map(fresh.map((name, at) => [name, at]));
  for (const [at, name] of fresh.entries()) {
    const isEarlier = (other: string) => other !== name && (lastAt.get(other) ?? -1) < at;
    let existing = alike.get(foldedName(name))?.find(isEarlier);
    if (existing === undefined && at < MAX_COMPARED) {
      const near = await writer.namesFrom(foldedName(name).slice(0, 2), MAX_CANDIDATES);
      existing = near
        .map((row) => row.name)
        .find((other) => isEarlier(other) && isAlike(name, other));
    }
    if (existing !== undefined) found.push({ name, existing });
    if (found.length === MAX_SHOWN) break;
  }
  return found;
}

/** Whether two names differ only by blanks and punctuation, or by one letter. Numbers and short names are different ones. */
function isAlike(name: string, other: string): boolean {
  const [one, two] = [compact(name), compact(other)];
  return one === two || isOneEditApart(one, two);
}

/** Types of new rows that no other row has, if another spelling of them is in use. */
async function similarTypes(
  writer: Writer,
  kind: "entity" | "relation",
  fresh: readonly string[],
): Promise<Similar[]> {
  const counts = new Map<string, number>();
  for (const type of fresh) counts.set(type, (counts.get(type) ?? 0) + 1);
  const found: Similar[] = [];
  let existing: { type: string; count: number }[] | undefined;
  for (const [type, count] of counts) {
    if (await writer.hasType(kind, type, count)) continue;
    existing ??= await writer.typeCounts(kind, MAX_TYPES);
    const other = existing.find((one) => one.type !== type && compact(one.type) === compact(type));
    if (other !== undefined) found.push({ name: type, existing: other.type });
    if (found.length === MAX_SHOWN) break;
  }
  return found;
}
