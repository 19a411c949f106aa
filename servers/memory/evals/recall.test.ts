import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import * as z from "zod";
import { searchNodes } from "../src/graph/search/search.ts";
import { create } from "../test/stores/help.ts";
import { sqlite } from "../test/temporary.ts";

const recall = z.object({
  entities: z.array(
    z.object({ name: z.string(), entityType: z.string(), observations: z.array(z.string()) }),
  ),
  questions: z.array(
    z.object({
      kind: z.enum(["question", "inflection", "typo", "paraphrase", "language", "heldout"]),
      question: z.string(),
      keywords: z.string(),
      answer: z.string(),
    }),
  ),
});

/** Minimum answers in the first five, of 20 (30 plain questions, 10 in other languages): as a person asks, and with keywords. */
const LEAST = {
  question: [29, 30],
  inflection: [20, 20],
  typo: [20, 19],
  // Only the keywords have synonyms, as a careful model sends them.
  paraphrase: [8, 20],
  language: [4, 10],
  heldout: [16, 16],
} as const;

it("finds the answers to 120 questions among 300 facts within the first five", async () => {
  const text = await readFile(new URL("recall.json", import.meta.url), "utf8");
  const { entities, questions } = recall.parse(JSON.parse(text));
  const store = await sqlite();
  await create(store, entities, "error");
  const counts: Record<string, [number, number]> = {};
  let total = 0;
  for (const { kind, question, keywords, answer } of questions) {
    const hits = counts[kind] ?? [0, 0];
    counts[kind] = hits;
    for (const [form, query] of [question, keywords].entries()) {
      const page = await searchNodes(store, { query, limit: 20, budget: 20_000 });
      const names = page.entities.map(({ name }) => name);
      total += names.length;
      if (names.slice(0, 5).includes(answer)) hits[form] = (hits[form] ?? 0) + 1;
    }
  }
  for (const [kind, least] of Object.entries(LEAST))
    for (const [form, count] of least.entries())
      expect(
        counts[kind]?.[form],
        `${kind} ${form}: ${JSON.stringify(counts)}`,
      ).toBeGreaterThanOrEqual(count);
  // A common word alone should not fill the answer.
  expect(total / (2 * questions.length)).toBeLessThan(4);
});
