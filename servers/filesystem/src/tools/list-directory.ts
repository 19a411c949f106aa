import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { cursor, path, tool } from "../context.ts";
import { listDirectory } from "../files/tree/list-directory.ts";

export default tool({
  name: "list_directory",
  title: "List directory",
  description:
    "List one directory with types and link targets. " +
    "For nested directories call directory_tree.",
  effect: "read",
  toolset: "read",
  input: z.strictObject({ path, limit: fields.limit(200, 1000), cursor }),
  run(input, files, { budget, signal }) {
    return listDirectory(files, { ...input, details: false, sort: "name", budget, signal });
  },
});
