/** The tool that searches one page. */
import { cursorsOf, fitting } from "@refmcp/boundary/answer";
import * as z from "zod";
import { maxAge, selector, tool, url } from "../context.ts";
import { findIn, notesOf } from "../page/answer/find.ts";

export default tool({
  name: "fetch_find",
  title: "Find in a page",
  description:
    "Find text in a web page, with context, instead of reading all of it. Each index can be passed to fetch as start_index.",
  effect: "read",
  openWorld: true,
  input: z.strictObject({
    url,
    query: z
      .string()
      .trim()
      .min(1)
      .max(500)
      .describe("Text to find, as on the page; case-insensitive."),
    context: z
      .int()
      .min(0)
      .max(2_000)
      .default(200)
      .describe("Characters of context before and after."),
    limit: z.int().min(1).max(100).default(10).describe("Maximum matches."),
    selector,
    max_age: maxAge,
    cursor: z.string().max(1_000).optional().describe("next_cursor of the previous response."),
  }),
  output: z.object({
    url: z.string(),
    matches: z.number(),
    places: z.array(
      z.object({
        index: z.number(),
        section: z.string().optional(),
        matches: z.number(),
        text: z.string(),
      }),
    ),
    snapshot: z.string(),
    note: z.string().optional(),
    next_cursor: z.string().optional(),
  }),
  async run({ url, query, context, limit, selector, max_age, cursor }, web, call) {
    const cursors = cursorsOf(
      "fetch_find",
      { url, query, context, selector },
      z.tuple([z.string(), z.int().min(0)]),
    );
    const [id, from] = cursors.decode(cursor) ?? [undefined, 0];
    const { signal } = call;
    const snapshot =
      id === undefined ? await web.get(url, { maxAgeMs: max_age * 1_000, signal }) : web.kept(id);
    const page = await snapshot.page({ format: "auto", includeLinks: true, selector }, signal);
    const { excerpts, total } = findIn(page.text, query, context);
    const notes = notesOf(url, total, snapshot.answer, page);
    if (total === 0 && /^(?:main content|page without navigation)$/.test(page.extractor)) {
      const view = { format: "auto", includeLinks: true, selector: "body" } as const;
      const { total: elsewhere } = findIn((await snapshot.page(view, signal)).text, query, 0);
      if (elsewhere > 0) notes.push(`Found only outside the ${page.extractor}: use selector body.`);
    }
    const rest = excerpts.slice(from, from + limit);
    const places = rest.slice(0, fitting(rest, call.budget - 500));
    const next = from + places.length;
    return {
      url: snapshot.answer.url.href,
      matches: total,
      places,
      snapshot: snapshot.uri,
      note: notes.join(" ") || undefined,
      next_cursor: next < excerpts.length ? cursors.encode([snapshot.id, next]) : undefined,
    };
  },
});
