/** The tool that searches one page. */
import { cursorsOf, fitCount } from "@refmcp/boundary/answer";
import * as z from "zod";
import { maxAge, selector, tool, url } from "../context.ts";
import { findIn, searchNotes } from "../page/answer/find.ts";

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
    context: z.int().min(0).max(2_000).default(200).describe("Characters before and after."),
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
  async run({ url, query, context, limit, selector, max_age, cursor }, web, { signal, budget }) {
    const asked = { url, query, context, selector };
    const cursors = cursorsOf("fetch_find", asked, z.tuple([z.string(), z.int().min(0)]));
    const [id, from] = cursors.decode(cursor) ?? [undefined, 0];
    const snapshot =
      id === undefined
        ? await web.get(url, { maxAgeMs: max_age * 1_000, signal })
        : web.snapshot(id);
    const page = await snapshot.page({ selector }, signal);
    const { excerpts, total } = findIn(page.text, query, context);
    const rest = excerpts.slice(from, from + limit);
    const places = rest.slice(0, fitCount(rest, budget - 500));
    const next = from + places.length;
    return {
      url: snapshot.answer.url.href,
      matches: total,
      places,
      snapshot: snapshot.uri,
      note: searchNotes(url, total, snapshot, page),
      next_cursor: next < excerpts.length ? cursors.encode([snapshot.id, next]) : undefined,
    };
  },
});
