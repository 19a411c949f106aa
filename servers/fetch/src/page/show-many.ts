import type { Call, Content } from "@refmcp/core";
import { ToolError } from "@refmcp/core/answer";
import { type Asked, showPage } from "./show.ts";
import type { Web } from "./web.ts";

/**
 * Fetches several pages, each host's at most two at a time, and shows the beginning of each in the order of the URLs.
 *
 * @returns the blocks of all answers, and a line for each page that failed.
 */
export async function showPages(
  web: Web,
  urls: readonly string[],
  asked: Pick<Asked, "format" | "include_links" | "max_length" | "max_age">,
  call: Pick<Call, "signal" | "budget" | "progress">,
): Promise<{ contents: Content[]; failed: string[] }> {
  const budget = Math.floor(call.budget / urls.length);
  const failed: string[] = [];
  let done = 0;
  const answers = await Promise.all(
    urls.map(async (url): Promise<Content[]> => {
      try {
        return await showPage(web, { ...asked, url, start_index: 0 }, { signal: call.signal, budget });
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        const text = [`Failed to fetch ${url.slice(0, 500)}: ${error.message}`, error.hint].join(" ").trim();
        failed.push(text);
        return [{ type: "text", text: `[${text}]` }];
      } finally {
        done += 1;
        call.progress(done, urls.length, url.slice(0, 200));
      }
    }),
  );
  return { contents: answers.flat(), failed };
}
