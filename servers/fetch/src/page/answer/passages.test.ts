import { expect, it } from "vitest";
import { prose } from "../../../test/pages/write.ts";
import { passagesFor } from "./passages.ts";

const GUIDE = `# Mill guide

${prose(8, 1)}

## Opening hours

Closed on Mondays. ${prose(8, 2)}

## Prices

### Children

A ticket costs € 3.00. ${prose(8, 3)}

### Adults

A ticket costs € 7.50. ${prose(8, 4)}

\`\`\`sh
# Prices
book --ticketPrice child_ticket
\`\`\`
`;
const source = (text: string, url = "https://mill.example/guide") => ({ url, text });

it("finds the passage by its words and the headings above it, with its index", () => {
  const [best] = passagesFor("What does a ticket for children cost?", [source(GUIDE)], 3_000);
  expect(best?.text).toContain("€ 3.00");
  expect(best?.headings).toEqual(["Mill guide", "Prices", "Children"]);
  expect(GUIDE.slice(best?.index)).toMatch(/^### Children/);
  for (const { index, text } of passagesFor("ticket", [source(GUIDE)], 3_000))
    expect(GUIDE.slice(index, index + 40)).toBe(text.slice(0, 40));
});

it("finds other forms of a word, parts of identifiers, and does not take a comment in code for a heading", () => {
  const of = (question: string) => passagesFor(question, [source(GUIDE)], 3_000)[0];
  expect(of("opened hour")?.headings.at(-1)).toBe("Opening hours");
  expect(of("book the ticket_price")?.text).toContain("ticketPrice");
  expect(of("child_ticket")?.headings).toEqual(["Mill guide", "Prices", "Adults"]);
});

it("chooses from several pages within the budget, the best first, and nothing if no word is shared", () => {
  const other = source(
    "# Bridge\n\nThe bridge ticket of children is free.",
    "https://bridge.example/",
  );
  const passages = passagesFor("bridge ticket for children", [source(GUIDE), other], 2_000);
  expect(passages[0]?.url).toBe("https://bridge.example/");
  expect(passages.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(2_000);
  expect(passagesFor("quantum chromodynamics", [source(GUIDE)], 2_000)).toEqual([]);
  expect(passagesFor("?", [source(GUIDE)], 2_000)).toEqual([]);
  expect(passagesFor("anything", [source("")], 2_000)).toEqual([]);
});

it("splits one long line, keeps pairs of surrogates, and stays linear", () => {
  const line = `${"𝒳🙂 ".repeat(20_000)}needle ${"𝒳🙂".repeat(20_000)}`;
  const passages = passagesFor("needle", [source(line)], 2_000);
  expect(passages[0]?.text).toContain("needle");
  expect(passages[0]?.text.length).toBeLessThanOrEqual(1_500);
  for (const { text } of passages) expect(text.isWellFormed()).toBe(true);
  const many = Array.from({ length: 30_000 }, (_, index) => `## H ${index}\n\ntext`).join("\n\n");
  expect(passagesFor("text", [source(many)], 1_000).length).toBeGreaterThan(0);
});
