import { ToolError } from "@refmcp/boundary/answer";
import { failure } from "../errors.ts";
import { entityNamed, quote } from "../read/names.ts";
import type { Store, Writer } from "../store/store.ts";
import { storable } from "../text.ts";
import { type ChangeFacts, type EntityRow, idsOf, type ObservationRow } from "../types.ts";
import { change, checkedText } from "./change.ts";

/** An update either sets the new name or type, or makes the entity part of another one. */
type EntityUpdate = { readonly name: string } & {
  readonly [Field in "new_name" | "new_type" | "merge_into"]?: string | undefined;
};

/**
 * Renames entities (relations follow), changes their types or merges one into another. Applies all updates or none.
 *
 * @throws ToolError `not_found` for an unknown entity, `conflict` for a name that is taken, `invalid` for an update that
 *   is empty or contradicts itself.
 */
export async function updateEntities(
  store: Store,
  updates: readonly EntityUpdate[],
  facts: ChangeFacts,
) {
  const checked = updates.map(checkedUpdate);
  return change(store, facts, async (writer) => {
    const updated = [];
    for (const update of checked) {
      const entity = await entityNamed(writer, update.name);
      const into = update.merge_into;
      const result =
        into === undefined
          ? await alter(writer, entity, update)
          : await merge(writer, entity, await entityNamed(writer, into));
      const { name, type } = entity;
      updated.push({ name: result.after.name, before: { name, entityType: type }, ...result });
    }
    return { updated };
  });
}

function checkedUpdate(update: EntityUpdate, index: number): EntityUpdate {
  const { new_name, new_type, merge_into } = update;
  const where = `updates.${index}`;
  if (new_name === undefined && new_type === undefined && merge_into === undefined)
    throw new ToolError("invalid", `${where} for ${quote(update.name)} changes nothing.`, {
      hint: "Pass new_name, new_type or merge_into. Change observations with add_observations and delete_observations.",
    });
  if (merge_into !== undefined && (new_name !== undefined || new_type !== undefined))
    throw new ToolError("invalid", `${where} both merges and renames ${quote(update.name)}.`, {
      hint: "A merged entity keeps neither name nor type: pass only merge_into.",
    });
  return {
    name: storable(update.name),
    new_name:
      new_name === undefined ? undefined : checkedText("name", new_name, `${where}.new_name`),
    new_type:
      new_type === undefined ? undefined : checkedText("type", new_type, `${where}.new_type`),
    merge_into: merge_into && storable(merge_into),
  };
}

async function alter(writer: Writer, entity: EntityRow, { new_name, new_type }: EntityUpdate) {
  if (new_name !== undefined && new_name !== entity.name) {
    if ((await writer.entitiesNamed([new_name])).has(new_name))
      throw failure("exists", `The name ${quote(new_name)} is taken; nothing was changed.`, {
        hint: `To merge the two, pass merge_into ${quote(new_name)}; or choose another name.`,
      });
    await writer.set("entity", [entity.id], { name: new_name });
  }
  if (new_type !== undefined && new_type !== entity.type)
    await writer.set("entity", [entity.id], { type: new_type });
  return { after: { name: new_name ?? entity.name, entityType: new_type ?? entity.type } };
}

/** Moves everything attached to `from` to `into`, drops duplicates, and deletes `from`; returns what moved. */
async function merge(writer: Writer, from: EntityRow, into: EntityRow) {
  if (from.id === into.id)
    throw new ToolError("invalid", `${quote(from.name)} cannot be merged into itself.`, {
      hint: "Pass another entity as merge_into.",
    });
  const moved = {
    observations: await moveObservations(writer, from.id, into.id),
    relations: await moveRelations(writer, from.id, into.id),
  };
  await writer.remove("entity", [from]);
  return { after: { name: into.name, entityType: into.type }, moved };
}

async function moveObservations(writer: Writer, from: number, into: number): Promise<number> {
  const observations = await writer.observationsOf([from], "kept");
  const targets = observations.map(({ content }) => ({ entityId: into, content }));
  const twins = await writer.observationsMatching(targets);
  const twinTexts = new Set(twins.map(({ content }) => content));
  // What was superseded stays in the history of the other entity.
  const isTwin = ({ content, supersededAt }: ObservationRow) =>
    supersededAt === null && twinTexts.has(content);
  await writer.remove("observation", observations.filter(isTwin));
  const fresh = observations.filter((row) => !isTwin(row));
  await writer.set("observation", idsOf(fresh), { entity_id: into });
  return fresh.length;
}

async function moveRelations(writer: Writer, from: number, into: number): Promise<number> {
  const swap = (id: number) => (id === from ? into : id);
  let moved = 0;
  for (const relation of await writer.relationsOf([from])) {
    const ends = { fromId: swap(relation.fromId), toId: swap(relation.toId) };
    const there = await writer.relationsBetween([ends]);
    // A relation between the two would become one of an entity with itself.
    const isBetween = ends.fromId === ends.toId && relation.fromId !== relation.toId;
    if (isBetween || there.some(({ type }) => type === relation.type)) {
      await writer.remove("relation", [relation]);
      continue;
    }
    await writer.set("relation", [relation.id], { from_id: ends.fromId, to_id: ends.toId });
    moved += 1;
  }
  return moved;
}
