import { oneLine, type ToolError } from "@refmcp/boundary/answer";
import { failure } from "./errors.ts";

/**
 * A URL that a run may open, or the reason why not. Only http and https are allowed: other schemes (file:,
 * view-source:, data:, chrome:, javascript:, blob:) read this machine or run the caller's code.
 *
 * @param base for relative URLs; without it the URL must be absolute.
 */
export function parseTargetUrl(text: string, base?: string): URL | string {
  const trimmed = text.trim();
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(trimmed)?.[1]?.toLowerCase();
  // "localhost:1313" looks like a scheme, but is a host and a port.
  const isHostAndPort = /^[a-z0-9.-]+:\d{1,5}(?:[/?#]|$)/i.test(trimmed);
  if (isHostAndPort) return "write http:// in front of it";
  if (scheme !== undefined && scheme !== "http" && scheme !== "https")
    return `${scheme}: is not allowed`;
  if (trimmed.length > 8_000)
    return `it has ${trimmed.length} characters; at most 8,000 are allowed`;
  if (base === undefined && scheme === undefined) return "it has no http:// or https://";
  if (!URL.canParse(trimmed, base)) return "it is not a valid URL";
  const url = new URL(trimmed, base);
  return url.protocol === "http:" || url.protocol === "https:"
    ? url
    : `${url.protocol} is not allowed`;
}

export function refusedUrl(url: string, why: string): ToolError {
  return failure("refused", `url "${oneLine(url.slice(0, 200))}": ${why}.`, {
    hint: "Pass an absolute http or https URL: http://localhost:3000/",
  });
}
