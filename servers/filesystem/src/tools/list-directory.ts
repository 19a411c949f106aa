import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { path, tool } from "../context.ts";
import { listAnswer } from "../files/tree/list-answer.ts";

export default tool({
  name: "list_directory",
  title: "List directory",
  description:
    "List the entries of one directory with their types and where links lead. " +
    "For nested directories call directory_tree.",
  effect: "read",
  openWorld: false,
  toolset: "read",
  input: z.strictObject({ path, limit: fields.limit(200, 1000), cursor: fields.cursor }),
  async run({ path, limit, cursor }, files, call) {
    const listing = await files.list({
      path,
      details: false,
      sort: "name",
      limit,
      cursor,
      budget: call.budget,
      signal: call.signal,
    });
    return listAnswer(listing, false);
  },
});
