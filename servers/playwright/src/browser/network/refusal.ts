import { oneLine, ToolError } from "@refmcp/boundary/answer";

/** The error for a URL that no run may open. */
export function refusedUrl(url: string, why: string): ToolError {
  return new ToolError("denied", `url "${oneLine(url.slice(0, 200))}": ${why}.`, {
    hint: "Pass an absolute http or https URL: http://localhost:3000/",
    code: "refused",
  });
}
