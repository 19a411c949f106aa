/** What a response with a status of 400 and above means, and what to do about it. */
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import type { HttpAnswer } from "@refmcp/boundary/http-client";

const MEANINGS: Readonly<Record<number, readonly [kind: ToolError["kind"], meaning: string]>> = {
  401: ["denied", "login required"],
  403: ["denied", "access denied"],
  404: ["not_found", "page not found"],
  410: ["not_found", "the page was removed"],
  429: ["unavailable", "rate limit exceeded"],
};
const SHOWN_CHARS = 300;

/** @param text the page, as text */
export function statusError({ status, url, headers }: HttpAnswer, text: string): ToolError {
  const fallback = status >= 500 ? "server error" : "the site rejected the request";
  const [kind, meaning] = MEANINGS[status] ?? ["unavailable", fallback];
  const excerpt = oneLine(text.replace(/\s+/g, " ").slice(0, SHOWN_CHARS));
  const retry = /^\d{1,6}$/.exec(headers["retry-after"] ?? "")?.[0];
  const message = excerpt === "" ? "" : ` Message: ${JSON.stringify(excerpt)}`;
  const gone =
    "Check the URL. The page that linked to it, or the site's home page, may have a newer one.";
  const later = status >= 500 ? "Try again later." : gone;
  return new ToolError(kind, `${url.href} returned status ${status}: ${meaning}.${message}`, {
    hint: retry === undefined ? later : `Try again after ${retry} s.`,
  });
}
