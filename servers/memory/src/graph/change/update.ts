import { ToolError } from "@refmcp/boundary/answer";
import { failure } from "../errors.ts";
import { entityNamed, quote } from "../read/names.ts";
import type { Store, Writer } from "../store/store.ts";
import type { ChangeFacts, EntityRow, ObservationRow } from "../types.ts";
import { change, checkedText } from "./change.ts";

/** An update either sets the new name or type, or makes the entity part of another one. */
type EntityUpdate = { readonly name: string } & {
  readonly [Field in "new_name" | "new_type" | "merge_into"]?: string | undefined;
};

/**
 * Renames entities (relations follow), changes their types or merges one into another. Applies all updates or none.
 *
 * @throws ToolError `not_found` for an unknown entity, `conflict` for a name that is taken, `invalid` for an update
 *   that is empty or contradicts itself.
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
    name: update.name.toWellFormed(),
    new_name:
      new_name === undefined ? undefined : checkedText("name", new_name, `${where}.new_name`),
    new_type:
      new_type === undefined ? undefined : checkedText("type", new_type, `${where}.new_type`),
    merge_into: merge_into?.toWellFormed(),
  };
}

async function alter(writer: Writer, entity: EntityRow, { new_name, new_type }: EntityUpdate) {
  if (new_name !== undefined && new_name !== entity.name) {
    if ((await writer.entitiesNamed([new_name])).has(new_name))
      throw failure("exists", `The name ${quote(new_name)} is taken; nothing was changed.`, {
        hint: `To merge the two, pass merge_into ${quote(new_name)}; or choose another name.`,
      });
    await writer.alter(entity, "rename", new_name);
  }
  if (new_type !== undefined && new_type !== entity.type)
    await writer.alter(entity, "retype", new_type);
  return { after: { name: new_name ?? entity.name, entityType: new_type ?? entity.type } };
}

/** Moves everything attached to `from` to `into`, drops duplicates, and deletes `from`; returns what moved. */
async function merge(writer: Writer, from: EntityRow, into: EntityRow) {
  if (from.id === into.id)
    throw new ToolError("invalid", `${quote(from.name)} cannot be merged into itself.`, {
      hint: "Pass another entity as merge_into.",
    });
  const observations = await writer.observationsOf([from.id], "kept");
  const contents = observations.map(({ content }) => content);
  const had = new Set(
    (await writer.observationsMatching(into.id, contents)).map(({ content }) => content),
  );
  // What was superseded stays in the history of the other entity.
  const isTwin = ({ content, supersededAt }: ObservationRow) =>
    supersededAt === null && had.has(content);
  const fresh = observations.filter((row) => !isTwin(row));
  const twins = observations.filter(isTwin);
  await writer.remove("observation", twins);
  for (const { id } of fresh) await writer.moveObservation(id, from.id, into.id);

  const relations = await writer.relationsOf([from.id]);
  const swap = (id: number) => (id === from.id ? into.id : id);
  let moved = 0;
  for (const relation of relations) {
    const ends = { fromId: swap(relation.fromId), toId: swap(relation.toId) };
    const there = await writer.relationsBetween([ends]);
    // A relation between the two would become one of an entity with itself.
    const between = ends.fromId === ends.toId && relation.fromId !== relation.toId;
    if (between || there.some(({ type }) => type === relation.type)) {
      await writer.remove("relation", [relation]);
    } else {
      await writer.moveRelation(
        relation.id,
        [relation.fromId, relation.toId],
        [ends.fromId, ends.toId],
      );
      moved += 1;
    }
  }
  await writer.remove("entity", [from]);
  return {
    after: { name: into.name, entityType: into.type },
    moved: { observations: fresh.length, relations: moved },
  };
}
