import { resource } from "../context.ts";
import { summaryOf } from "../files/journal/list-changes.ts";

/** How many changes the resource shows; list_changes goes further back. */
const SHOWN = 50;

export default resource({
  uri: "fs://changes",
  name: "changes",
  title: "Recent changes",
  description: "The last 50 changes made through this server, newest first, for review and undo.",
  mimeType: "application/json",
  async read(files) {
    const { changes } = await files.changes({ limit: SHOWN, maxChars: 80_000 });
    const shown = changes.map(({ change, undoneBy }) => {
      const { effect, steps, ...rest } = change;
      const { more, final } = summaryOf(change);
      return {
        ...rest,
        ...(more > 0 ? { files: more + 1 } : {}),
        final: undefined,
        undoable: final === undefined,
        not_undoable: final,
        undone_by: undoneBy,
      };
    });
    return JSON.stringify({ changes: shown }, undefined, 2);
  },
  watch: (files, changed) => files.onChange(changed),
});
