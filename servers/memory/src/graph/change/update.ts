import { ToolError } from "@refmcp/boundary/answer";
import type { Store } from "../store/store.ts";
import type { EntityRow } from "../types.ts";
import { type ChangeFacts, type ChangeLog, change } from "./change-log.ts";
import { checkedText, entityNamed, quote } from "./checks.ts";

interface EntityUpdate {
  readonly name: string;
  readonly new_name?: string | undefined;
  readonly new_type?: string | undefined;
  /** The entity that this one becomes part of. */
  readonly merge_into?: string | undefined;
}

type UpdatedEntity = {
  readonly name: string;
  readonly before: { name: string; entityType: string };
  readonly after: { name: string; entityType: string };
  /** What moved into another entity; duplicates were dropped. */
  readonly moved?: { observations: number; relations: number };
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
): Promise<{ updated: UpdatedEntity[]; change_id: number | undefined }> {
  const checked = updates.map(checkedUpdate);
  const { value, changeId } = await change(store, facts, async (log) => {
    const updated: UpdatedEntity[] = [];
    for (const update of checked) {
      const entity = await entityNamed(log.writer, update.name);
      updated.push(
        update.merge_into === undefined
          ? await alter(log, entity, update)
          : await merge(log, entity, await entityNamed(log.writer, update.merge_into)),
      );
    }
    return updated;
  });
  return { updated: value, change_id: changeId };
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
    new_name: new_name === undefined ? undefined : checkedText("name", new_name, `${where}.new_name`),
    new_type: new_type === undefined ? undefined : checkedText("type", new_type, `${where}.new_type`),
    merge_into: merge_into?.toWellFormed(),
  };
}

async function alter(
  log: ChangeLog,
  entity: EntityRow,
  { new_name, new_type }: EntityUpdate,
): Promise<UpdatedEntity> {
  if (new_name !== undefined && new_name !== entity.name) {
    if ((await log.writer.entitiesNamed([new_name])).has(new_name))
      throw new ToolError("conflict", `The name ${quote(new_name)} is taken; nothing was changed.`, {
        hint: `To merge the two, pass merge_into ${quote(new_name)}; or choose another name.`,
        code: "exists",
      });
    await log.rename(entity, new_name);
  }
  if (new_type !== undefined && new_type !== entity.type) await log.retype(entity, new_type);
  return {
    name: new_name ?? entity.name,
    before: { name: entity.name, entityType: entity.type },
    after: { name: new_name ?? entity.name, entityType: new_type ?? entity.type },
  };
}

/** Moves everything attached to `from` to `into`, drops duplicates, and deletes `from`. */
async function merge(log: ChangeLog, from: EntityRow, into: EntityRow): Promise<UpdatedEntity> {
  if (from.id === into.id)
    throw new ToolError("invalid", `${quote(from.name)} cannot be merged into itself.`, {
      hint: "Pass another entity as merge_into.",
    });
  const observations = await log.writer.observationsOf([from.id]);
  const contents = observations.map(({ content }) => content);
  const twins = await log.writer.observationsMatching(into.id, contents);
  const had = new Set(twins.map(({ content }) => content));
  const doubles = observations.filter(({ content }) => had.has(content));
  const fresh = observations.filter(({ content }) => !had.has(content));
  await log.remove("observation", doubles);
  for (const { id } of fresh) await log.moveObservation(id, from.id, into.id);

  const relations = await log.writer.allRelations([from.id]);
  const swap = (id: number) => (id === from.id ? into.id : id);
  let moved = 0;
  for (const relation of relations) {
    const ends = { fromId: swap(relation.fromId), toId: swap(relation.toId) };
    const there = await log.writer.relationsBetween([ends]);
    // A relation between the two would become one of an entity with itself.
    const between = ends.fromId === ends.toId && relation.fromId !== relation.toId;
    if (between || there.some(({ type }) => type === relation.type)) {
      await log.remove("relation", [relation]);
    } else {
      await log.moveRelation(relation.id, [relation.fromId, relation.toId], [ends.fromId, ends.toId]);
      moved += 1;
    }
  }
  await log.remove("entity", [from]);
  return {
    name: into.name,
    before: { name: from.name, entityType: from.type },
    after: { name: into.name, entityType: into.type },
    moved: { observations: fresh.length, relations: moved },
  };
}
