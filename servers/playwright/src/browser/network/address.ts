/**
 * A URL that a run may go to, or a sentence that says why not. Only http and https are: everything else (file:,
 * view-source:, data:, chrome:, javascript:, blob:) reads this machine or runs what the caller brings.
 *
 * @param base where a relative URL starts; without it the URL must be absolute.
 */
export function parseTargetUrl(text: string, base?: string): URL | string {
  const trimmed = text.trim();
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(trimmed)?.[1]?.toLowerCase();
  // "localhost:1313" has the shape of a scheme; it is a host whose port follows.
  const isHostAndPort = /^[a-z0-9.-]+:\d{1,5}(?:[/?#]|$)/i.test(trimmed);
  if (isHostAndPort) return "write http:// in front of it";
  if (scheme !== undefined && scheme !== "http" && scheme !== "https") return `${scheme}: is not allowed`;
  if (trimmed.length > 8_000) return `it has ${trimmed.length} characters; at most 8,000 are allowed`;
  if (base === undefined && scheme === undefined) return "it has no http:// or https://";
  if (!URL.canParse(trimmed, base)) return "it is not a valid URL";
  const url = new URL(trimmed, base);
  return url.protocol === "http:" || url.protocol === "https:" ? url : `${url.protocol} is not allowed`;
}
