import { digits, nearest, oneLine, type ToolError } from "@refmcp/boundary/answer";
import { failure } from "../errors.ts";
import type { Reader, Store } from "../store/store.ts";
import { foldedName, wordsOf } from "../text.ts";
import type { EntityRow } from "../types.ts";

/** Untrusted text inside one of our sentences: on one line, in quotes, truncated if long. */
export function quote(text: string): string {
  const line = oneLine(text.slice(0, 120));
  return `"${line.length < text.length && text.length > 80 ? `${line.slice(0, 80)}…` : line}"`;
}

/** Several names in a sentence, at most five. */
export function quoteAll(names: readonly string[]): string {
  const list = names.slice(0, 5).map(quote).join(", ");
  return names.length > 5 ? `${list} and ${digits(names.length - 5)} more` : list;
}

/** The id of an observation as `replaces` takes it: `#12`. */
export const idOf = (id: number) => `#${id}`;

const MAX_LIKE = 3;
/** Names that are compared: some that begin alike, and some that share a word. */
const [MAX_BEGINNING, MAX_SHARING] = [500, 100];

/** Existing names similar to this one, best first: a few letters away, or longer ones that contain it. */
async function namesLike(reader: Reader, name: string): Promise<string[]> {
  const folded = foldedName(name);
  const words = wordsOf(folded).slice(0, 3);
  const terms = words.map((text) => ({ text }));
  const sharing =
    terms.length === 0 ? [] : await reader.connection.matching("entities", [terms], MAX_SHARING);
  const entities = [
    ...(await reader.namesFrom(folded.slice(0, 2), MAX_BEGINNING)),
    ...(await reader.entitiesById(sharing)).values(),
  ];
  const names = new Map(entities.map((entity) => [foldedName(entity.name), entity.name]));
  const near = nearest(folded, names.keys(), MAX_LIKE);
  const longer = [...names.keys()].filter((key) => key.includes(folded)).sort();
  const keys = [...new Set([...near, ...longer])].slice(0, MAX_LIKE);
  return keys.map((key) => names.get(key) ?? key);
}

/** "Did you mean …?" for the first of some names that do not exist; empty if nothing is similar. */
export async function didYouMean(reader: Reader, names: readonly string[]): Promise<string> {
  const near = new Set<string>();
  for (const name of names.slice(0, 3))
    for (const like of await namesLike(reader, name)) near.add(like);
  return near.size === 0 ? "" : `Did you mean ${quoteAll([...near])}?`;
}

/** The error for entities that do not exist, with similar ones. */
export async function unknownEntities(
  reader: Reader,
  names: readonly string[],
): Promise<ToolError> {
  const removedNames = (await reader.removedNamed(names.slice(0, 100))).map(({ name }) => name);
  const gone = quoteAll([...new Set(removedNames)]);
  const hints = [
    await didYouMean(reader, names),
    removedNames.length === 0
      ? ""
      : `Deleted: ${gone}; to restore it, use recent_changes and undo_memory_change.`,
    "Find names with search_nodes, or create the entity with create_entities.",
  ];
  const what = names.length === 1 ? "There is no entity" : "There are no entities";
  return failure("unknown_entity", `${what} ${quoteAll(names)}.`, {
    hint: hints.filter((hint) => hint !== "").join(" "),
  });
}

/** @throws ToolError `not_found` for an unknown entity. */
export async function entityNamed(reader: Reader, name: string): Promise<EntityRow> {
  const entity = (await reader.entitiesNamed([name])).get(name);
  if (entity === undefined) throw await unknownEntities(reader, [name]);
  return entity;
}

/** Names that begin with a text, ignoring case and accents, for completion. */
export function namesBeginning(store: Store, text: string, max: number): Promise<string[]> {
  return store.read(async (reader) =>
    (await reader.namesFrom(foldedName(text), max)).map(({ name }) => name),
  );
}
