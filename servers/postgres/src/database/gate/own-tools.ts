import { ToolError } from "@refmcp/boundary/answer";
import type { ToolsFileRules } from "@refmcp/sql/tools-file";
import { placesOf } from "../explain/explain.ts";
import { passReading } from "./read.ts";
import { passWriting } from "./write.ts";

/** How the statements of `--tools-file` are checked at start. */
export const rulesFor = ({
  sources,
  allowWrite,
  allowAdmin,
}: {
  readonly sources: readonly string[];
  readonly allowWrite: boolean;
  readonly allowAdmin: boolean;
}): ToolsFileRules => ({
  sources,
  async judge(sql) {
    try {
      await passReading(sql);
      return "read";
    } catch (error) {
      if (!allowWrite) throw needsWrite(error);
      await passWriting(sql, allowAdmin);
      return "change";
    }
  },
  async checkParams({ statement, names }) {
    const places = await placesOf(statement);
    if (places === names.length) return;
    const problem = `the statement takes ${places} values, but there are ${names.length} parameters.`;
    throw new ToolError("invalid", problem);
  },
});

const needsWrite = (refused: unknown) =>
  refused instanceof ToolError && refused.kind === "denied"
    ? new ToolError("denied", `${refused.message} The server was not started with --allow-write.`)
    : refused;
