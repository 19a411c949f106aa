import { nearest, oneLine, ToolError } from "@refmcp/core/answer";

/**
 * A `not_found` error with the names that are like the missing one.
 *
 * @param what is missing: `table`, `column`
 */
export function withNear(what: string, name: string, candidates: Iterable<string>, hint: string): ToolError {
  const near = nearest(name, candidates).map(oneLine);
  const question = near.length === 0 ? "" : ` Did you mean ${near.join(" or ")}?`;
  return new ToolError("not_found", `No ${what} ${oneLine(name.slice(0, 200))}.${question}`, { hint });
}
