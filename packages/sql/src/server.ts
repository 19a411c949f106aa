import { join } from "node:path";
import {
  type AllowedDirectories,
  createPathGuard,
  hiddenAt,
  stateDirectories,
  withHidden,
} from "@refmcp/boundary";
import { CHANGES_NAME, ChangeStore } from "./change/store.ts";
import type { UndoValues } from "./options.ts";

/**
 * What a server opens before its databases: the files that it may use, without the record of changes, and that record, from
 * which it has erased what is too old.
 *
 * @param server its name, for the state directory
 */
export async function openRecord(
  server: string,
  allowed: AllowedDirectories,
  { undo, undoDays, undoDir, forgetChanges }: UndoValues,
) {
  const directories = undoDir === undefined ? stateDirectories(server) : [undoDir];
  const hidden = hiddenAt(directories.map((directory) => join(directory, CHANGES_NAME)));
  const visible = withHidden(allowed, hidden);
  const changes = new ChangeStore({
    directories,
    allowed: visible,
    enabled: undo,
    days: undoDays,
  });
  await changes.erase(forgetChanges);
  return { changes, guard: createPathGuard(visible) };
}
