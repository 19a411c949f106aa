import { grouped, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { path, tool } from "../context.ts";
import { changeAnswer } from "../files/journal/list-changes.ts";
import { named } from "../files/messages.ts";

const MAX_NAMED = 20;

export default tool({
  name: "create_directory",
  title: "Create directory",
  description:
    "Create a directory, or many, and any missing parents. Succeeds if it already exists.",
  effect: "add",
  toolset: "write",
  idempotent: true,
  input: z.strictObject({
    path: path.optional(),
    paths: z
      .array(z.string())
      .min(1)
      .max(1_000)
      .optional()
      .describe("Many at once, instead of path."),
  }),
  async run({ path, paths = path === undefined ? [] : [path] }, files) {
    if (paths.length === 0 || (path !== undefined && paths[0] !== path)) {
      throw new ToolError("invalid", "create_directory needs either path or paths.", {
        hint: "Give path for one directory, or paths for several.",
      });
    }
    const made = await files.createDirectory(...paths);
    if (made.created.length === 0)
      return paths.length === 1
        ? `${named(made.path)} already exists.`
        : "All of them already exist.";
    const more = made.created.length - MAX_NAMED;
    const rest = more > 0 ? ` and ${grouped(more)} more` : "";
    return changeAnswer(
      `Created ${made.created.slice(0, MAX_NAMED).map(named).join(", ")}${rest}.`,
      made.receipt,
    );
  },
});
