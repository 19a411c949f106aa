/** The tool that reads one page. */
import * as z from "zod";
import { maxAge, selector, tool, url } from "../context.ts";
import { contentOf } from "../page/answer/blocks.ts";
import { fetchPage } from "../page/answer/fetch-page.ts";

export default tool({
  name: "fetch",
  title: "Fetch a page",
  description:
    "Fetch a web page or file (PDF, Office, OpenDocument, EPUB) as Markdown, or an image. The last line has the next start_index. For many pages or a question use fetch_many, to search fetch_find.",
  effect: "read",
  openWorld: true,
  input: z.strictObject({
    url,
    max_length: z.int().min(1).max(999_999).default(5_000).describe("Maximum characters."),
    start_index: z
      .int()
      .min(0)
      .max(100_000_000)
      .default(0)
      .describe("Continue from this character."),
    raw: z.boolean().default(false).describe("The source instead of Markdown."),
    format: z
      .enum(["markdown", "metadata"])
      .default("markdown")
      .describe("metadata: title, dates, headings with indexes."),
    selector,
    section: z.string().min(1).max(300).optional().describe("Only the content under this heading."),
    include_links: z.boolean().default(true).describe("Keep link URLs."),
    max_age: maxAge,
  }),
  run: async (request, web, call) => contentOf(await fetchPage(web, request, call)),
});
