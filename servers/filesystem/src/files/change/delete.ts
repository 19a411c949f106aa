import type { GuardedDirectory } from "@refmcp/boundary";
import { grouped, oneLine, sized, ToolError } from "@refmcp/boundary/answer";
import { type Receipt, record } from "../journal/recording.ts";
import { placeOf, withDirectory } from "../open-path.ts";
import { counted } from "../wording.ts";
import { type ChangeContext, entryPath } from "./change-context.ts";
import { type Content, contentOf, entriesOf } from "./entries-below.ts";
import { ordinaryType, removeEntry } from "./remove-entry.ts";

/** A planned deletion. */
export interface DeletePlan {
  readonly path: string;
  readonly type: "file" | "directory" | "link";
  /** The contents of a directory. */
  readonly content: Content | undefined;
  /** Total bytes of all files. */
  readonly bytes: number;
  /** Why it could not be undone; undefined if it could. */
  readonly final: string | undefined;
  /** The question to ask the user first; undefined if none is needed. */
  readonly question: string | undefined;
}

export interface Deleted {
  readonly plan: DeletePlan;
  readonly receipt: Receipt;
  /** The path of an entry that the system refused to delete. */
  readonly leftover: string | undefined;
}

/**
 * Determines what deleting `path` would remove, without changing anything.
 *
 * @throws ToolError `conflict` for a directory that is not empty without `recursive`, `too_large` beyond a million
 * entries.
 */
export async function planDelete(
  context: ChangeContext,
  path: string,
  options: { recursive: boolean; signal?: AbortSignal | undefined },
): Promise<DeletePlan> {
  const { guard, journal } = context;
  const place = await placeOf(guard, path, { write: true });
  const type = await ordinaryType(guard, place);
  const look = (directory: GuardedDirectory) => contentOf(guard, directory, { signal: options.signal });
  const content = type === "directory" ? await withDirectory(guard, place.path, look) : undefined;
  const entries = entriesOf(content);
  if (entries > 0 && !options.recursive) throw notEmpty(place.path, entries);
  const bytes = content?.bytes ?? (type === "file" ? (place.stat?.size ?? 0) : 0);
  const final = await journal.whyFinal(place.path, bytes);
  const isLost = final !== undefined && (type !== "directory" || entries > 0);
  const question = isLost ? questionOf(place.path, content, bytes, final) : undefined;
  return { path: place.path, type, content, bytes, final, question };
}

/**
 * Carries out a planned deletion: into the journal, or permanently if `final` is set.
 *
 * @throws ToolError `conflict` if there is now more to delete than planned.
 */
export async function deletePlanned(
  context: ChangeContext,
  plan: DeletePlan,
  signal?: AbortSignal,
): Promise<Deleted> {
  const key = await entryPath(context.guard, plan.path);
  return context.locks.hold(
    [key],
    async () => {
      const now = await planDelete(context, plan.path, { recursive: plan.content !== undefined, signal });
      if (
        now.type !== plan.type ||
        now.bytes > plan.bytes ||
        entriesOf(now.content) > entriesOf(plan.content) ||
        now.final !== plan.final
      ) {
        throw new ToolError(
          "conflict",
          `"${oneLine(plan.path)}" changed while the deletion was being prepared; nothing was deleted.`,
          { hint: "Repeat the call to see what would be deleted now." },
        );
      }
      return record(context.journal, { action: "delete", path: plan.path }, async (recording) => {
        const image = recording.imageFor(plan.bytes);
        await recording.write({ kind: "removed", path: plan.path }, { before: plan.bytes });
        const remove = () => removeEntry(context.guard, plan.path, image, signal);
        return { plan, leftover: await recording.withRoom(remove) };
      });
    },
    signal,
  );
}

function notEmpty(path: string, entries: number): ToolError {
  return new ToolError("conflict", `"${oneLine(path)}" is a directory with ${grouped(entries)} entries.`, {
    hint: "To delete it with its contents, pass recursive: true.",
  });
}

function questionOf(path: string, content: Content | undefined, bytes: number, final: string): string {
  const what = content === undefined ? `(${sized(bytes)})` : `and its contents: ${describe(content)}`;
  return `Delete "${oneLine(path)}" ${what}? It will be permanently lost: ${final}.`;
}

/** Describes what a plan removes: `1 file (3 B)`, `a link`, `a directory with 2 files (3 B)`. */
export function describePlan({ type, content, bytes }: DeletePlan): string {
  if (content !== undefined)
    return entriesOf(content) === 0 ? "an empty directory" : `a directory with ${describe(content)}`;
  return type === "link" ? "a link" : `1 file (${sized(bytes)})`;
}

/** `12 files (1.2 MiB), 3 directories, 1 link`. */
export function describe(content: Content): string {
  const parts = [
    content.files > 0 || entriesOf(content) === 0
      ? `${counted(content.files, "file")} (${sized(content.bytes)})`
      : "",
    content.directories > 0 ? counted(content.directories, "directory", "directories") : "",
    content.links > 0 ? counted(content.links, "link") : "",
    content.others > 0 ? counted(content.others, "special file") : "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}
