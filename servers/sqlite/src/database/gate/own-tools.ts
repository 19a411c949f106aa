import { ToolError } from "@refmcp/boundary/answer";
import type { ToolsFileRules } from "@refmcp/sql/tools-file";
import { kind } from "../kind.ts";
import { passReading, passWriting } from "./gate.ts";
import { arranged } from "./params.ts";

/** How the statements of `--tools-file` are checked at start. */
export const rulesFor = ({
  sources,
  allowWrite,
  allowDdl,
}: {
  readonly sources: readonly string[];
  readonly allowWrite: boolean;
  readonly allowDdl: boolean;
}): ToolsFileRules => ({
  sources,
  async judge(sql) {
    try {
      passReading(sql);
      return "read";
    } catch {
      if (!allowWrite)
        throw new ToolError(
          "denied",
          "the statement is not read-only, and the server was not started with --allow-write.",
        );
      passWriting(sql, allowDdl);
      return "change";
    }
  },
  checkParams: ({ statement, names }) =>
    arranged(statement, kind.paramsFor(statement, names, names)),
});
