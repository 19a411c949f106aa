import { listChangesArguments, listChangesTool, listedChanges } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, tool } from "../context.ts";
import { changesOf } from "../database/writing/undo.ts";

export default tool({
  ...listChangesTool,
  name: "pg_list_changes",
  description:
    "List the recorded changes of pg_execute and pg_import_csv, newest first, for pg_undo_change.",
  toolset: "data",
  input: z.strictObject({ ...listChangesArguments, database }),
  async run({ database: name, ...asked }, postgres, { signal, budget }) {
    const at = postgres.at(name);
    return listedChanges("pg_list_changes", await changesOf(at, signal), { ...asked, budget });
  },
});
