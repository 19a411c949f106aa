import { resource } from "../context.ts";
import { listChanges, summaryOf } from "../files/change/list.ts";

/** How many changes the resource shows; list_changes goes further back. */
const SHOWN = 50;

export default resource({
  uri: "fs://changes",
  name: "changes",
  title: "Recent changes",
  description: "The last 50 changes made through this server, newest first, for review and undo.",
  mimeType: "application/json",
  async read(files) {
    const { changes } = await listChanges(files, { limit: SHOWN, maxChars: 80_000 });
    const shown = changes.map(({ change, undoneBy }) => {
      const { steps, interrupted, ...head } = change;
      const { first, more } = summaryOf(change);
      return {
        ...head,
        ...(more > 0
          ? { files: more + 1 }
          : { size_before: first?.size_before, size_after: first?.size_after }),
        ...(interrupted ? { interrupted } : {}),
        undoable: true,
        undone_by: undoneBy,
      };
    });
    return JSON.stringify({ changes: shown }, undefined, 2);
  },
  watch: (files, changed) => files.store.onChange(changed),
});
