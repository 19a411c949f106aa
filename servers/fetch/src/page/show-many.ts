import { ToolError } from "@refmcp/core/answer";
import { type Asked, type CallBudget, fetchPage, type Shown } from "./show.ts";
import type { Web } from "./web.ts";

/** A page of several: what was fetched, or why it was not. */
export type Outcome = Shown | { readonly kind: "failed"; readonly text: string };

/**
 * Fetches several pages, each host's at most two at a time, and shows the beginning of each in the order of the URLs.
 *
 * @param call its `progress` is told how many are done, of how many, and which was the last.
 */
export async function fetchPages(
  web: Web,
  urls: readonly string[],
  asked: Pick<Asked, "format" | "include_links" | "max_length" | "max_age">,
  call: CallBudget & { progress(done: number, total: number, url: string): void },
): Promise<Outcome[]> {
  const part = { signal: call.signal, budget: Math.floor(call.budget / urls.length) };
  let done = 0;
  return await Promise.all(
    urls.map(async (url): Promise<Outcome> => {
      try {
        return await fetchPage(web, { ...asked, url, start_index: 0 }, part);
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        const { message, hint = "" } = error;
        return { kind: "failed", text: `Failed to fetch ${url.slice(0, 500)}: ${message} ${hint}`.trim() };
      } finally {
        done += 1;
        call.progress(done, urls.length, url.slice(0, 200));
      }
    }),
  );
}
