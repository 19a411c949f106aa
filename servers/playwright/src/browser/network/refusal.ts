import { oneLine, ToolError } from "@refmcp/core/answer";

/** The refusal of a URL that no run goes to. */
export function refusedUrl(url: string, why: string): ToolError {
  return new ToolError("denied", `url "${oneLine(url.slice(0, 200))}": ${why}.`, {
    hint: "Give an absolute URL of http or https: http://localhost:3000/",
    code: "refused",
  });
}
