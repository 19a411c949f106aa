import { listChangesArguments, listChangesTool, listedChanges } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, tool } from "../context.ts";

export default tool({
  ...listChangesTool,
  name: "list_database_changes",
  description:
    "List changes made through this server, newest first, for review or undo_database_change.",
  input: z.strictObject({ database, ...listChangesArguments }),
  run: async ({ database, ...range }, databases, { budget }) =>
    listedChanges("list_database_changes", await databases.listChanges(database), {
      ...range,
      budget,
    }),
});
