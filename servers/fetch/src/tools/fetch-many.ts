/** The tool that reads several pages, or the parts of them that answer a question. */
import * as z from "zod";
import { maxAge, tool, url } from "../context.ts";
import { answerContent, contentOf } from "../page/answer/blocks.ts";
import { eachPage, fetchPage } from "../page/answer/fetch-page.ts";
import { answerFrom } from "../page/answer/question.ts";

export default tool({
  name: "fetch_many",
  title: "Fetch several pages",
  description:
    "Fetch the beginnings of up to 8 web pages at once, or the passages that answer a question. " +
    "If one fails, the others are still returned. Continue a page with fetch.",
  effect: "read",
  openWorld: true,
  input: z.strictObject({
    urls: z.array(url).min(1).max(8).describe("http or https URLs."),
    max_length: z
      .int()
      .min(1)
      .max(100_000)
      .default(3_000)
      .describe("Maximum characters per page, or of all passages."),
    max_age: maxAge,
    question: z
      .string()
      .trim()
      .min(1)
      .max(500)
      .optional()
      .describe("Return only the passages that answer this."),
  }),
  async run({ urls, question, max_length, max_age }, web, call) {
    const distinct = [...new Set(urls)];
    if (question !== undefined)
      return answerContent(
        await answerFrom(web, distinct, question, { max_length, max_age }, call),
      );
    const part = {
      signal: call.signal,
      budget: Math.floor(call.budget / distinct.length),
      log: (level: "warning", message: string) => call.log(level, message),
    };
    const outcomes = await eachPage(distinct, call, (url) =>
      fetchPage(web, { url, max_length, max_age }, part),
    );
    return outcomes.flatMap(contentOf);
  },
});
