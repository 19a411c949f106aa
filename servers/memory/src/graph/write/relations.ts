import { ToolError } from "@refmcp/boundary/answer";
import { unknownEntities } from "../read/names.ts";
import type { Store, Writer } from "../store/store.ts";
import type { NewRelation } from "../store/writer.ts";
import type { ChangeFacts, Relation } from "../types.ts";
import { change, checkedText, unlessEmpty } from "./change.ts";
import { insertEntities } from "./entities.ts";

/**
 * Creates relations between entities. Blanks around names are removed, unless an entity has them.
 *
 * @returns those it created, those that existed, and the entities that were created because a relation named them.
 * @throws ToolError `not_found` for an unknown entity with `error`; nothing is created then.
 */
export async function createRelations(
  store: Store,
  relations: readonly Relation[],
  { on_missing, ...facts }: { on_missing: "error" | "create" } & ChangeFacts,
) {
  const checkedRelations = relations.map(({ from, to, relationType }, index) => ({
    from: checkedText("name", from, `relations.${index}.from`),
    to: checkedText("name", to, `relations.${index}.to`),
    relationType: checkedText("type", relationType, `relations.${index}.relationType`),
  }));
  return change(store, facts, async (writer) => {
    const ends = checkedRelations.flatMap(({ from, to }) => [from, to]);
    const entities = await writer.entitiesNamed(ends.filter((name) => name !== name.trim()));
    const end = (name: string) => (entities.has(name) ? name : name.trim());
    const trimmed = checkedRelations.map((relation) => ({
      ...relation,
      from: end(relation.from),
      to: end(relation.to),
    }));
    const added = await addRelations(writer, trimmed, on_missing);
    return {
      relations: added.relations,
      duplicates: unlessEmpty(added.duplicates),
      created_entities: unlessEmpty(added.missing),
    };
  });
}

/** Inserts the relations that do not exist; `missing` are the entities created for them, if requested. */
export async function addRelations(
  writer: Writer,
  wanted: readonly Relation[],
  onMissing: "error" | "create",
): Promise<{ relations: Relation[]; duplicates: Relation[]; missing: string[] }> {
  const names = [...new Set(wanted.flatMap(({ from, to }) => [from, to]))];
  const ids = new Map([...(await writer.entitiesNamed(names))].map(([name, { id }]) => [name, id]));
  const missing = names.filter((name) => !ids.has(name));
  if (missing.length > 0 && onMissing === "error") {
    const { kind, message, hint, code } = await unknownEntities(writer, missing);
    throw new ToolError(kind, `${message} No relation was created.`, {
      hint: `${hint} Or pass on_missing create.`,
      code,
    });
  }
  const newEntities = missing.map((name) => ({ name, entityType: "unknown", observations: [] }));
  for (const [index, id] of (await insertEntities(writer, newEntities)).entries())
    ids.set(missing[index] ?? "", id);
  const rows = wanted.map((relation) => {
    const { from, to, relationType: type } = relation;
    return { relation, fromId: ids.get(from) ?? 0, toId: ids.get(to) ?? 0, type };
  });
  const keyOf = ({ fromId, toId, type }: NewRelation) => JSON.stringify([fromId, toId, type]);
  const existingKeys = new Set((await writer.relationsBetween(rows)).map(keyOf));
  const fresh: NewRelation[] = [];
  const relations: Relation[] = [];
  const duplicates: Relation[] = [];
  for (const row of rows) {
    const isNew = !existingKeys.has(keyOf(row));
    existingKeys.add(keyOf(row));
    if (isNew) fresh.push(row);
    (isNew ? relations : duplicates).push(row.relation);
  }
  await writer.addRelations(fresh);
  return { relations, duplicates, missing };
}
