import { expect, it } from "vitest";
import { failureOf, run, site, webOf } from "../../test/lab.ts";

const filler = (word: string) => `<p>${`${word} `.repeat(100)}</p>`;
const PAGE = `<h1>Manual</h1>${filler("intro")}<h2>Setup</h2><p>Run the <b>Big   Red</b> button (v1.0+).</p>${filler("more")}<h2>Use</h2><p>The big red one again.</p>`;

it("finds text with context, headings and indexes", async () => {
  const lab = await site({ "/": PAGE });
  const web = await webOf([lab]);
  const result = await run(web, "fetch_find", { url: lab.origin, query: "big red", context: 20 });
  expect(result).toMatchObject({
    url: `${lab.origin}/`,
    matches: 2,
    places: [
      { section: "Setup", matches: 1, text: expect.stringContaining("Run the **Big Red** button") },
      { section: "Use", matches: 1, text: expect.stringContaining("The big red one again.") },
    ],
  });
  const plain = await run(web, "fetch_find", { url: lab.origin, query: "(V1.0+)" });
  expect(plain).toMatchObject({ matches: 1, places: [{ section: "Setup" }] });
  expect(await run(web, "fetch_find", { url: lab.origin, query: "nowhere" })).toMatchObject({
    matches: 0,
    places: [],
  });
  expect(lab.asked).toEqual(["/"]);
});

it("pages through many matches without gap or repeat, in the same download", async () => {
  const spread = Array.from(
    { length: 25 },
    (_, index) => `<p>needle ${index}</p>${filler("hay")}`,
  ).join("");
  const lab = await site({ "/": spread });
  const web = await webOf([lab]);
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const args = {
      url: lab.origin,
      query: "needle",
      context: 5,
      limit: 10,
      ...(cursor === undefined ? {} : { cursor }),
    };
    const page = (await run(web, "fetch_find", args)) as {
      places: { text: string }[];
      next_cursor?: string;
      matches: number;
    };
    expect(page.matches).toBe(25);
    seen.push(...page.places.map(({ text }) => /needle \d+/.exec(text)?.[0] ?? text));
    cursor = page.next_cursor;
    lab.pages["/"] = "<p>changed</p>";
  } while (cursor !== undefined);
  expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => `needle ${index}`));
  const damaged = { url: lab.origin, query: "hay", cursor: "damaged" };
  expect(await failureOf(run(web, "fetch_find", damaged))).toMatchObject({ kind: "invalid" });
});
