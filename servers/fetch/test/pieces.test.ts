import { describe, expect, it } from "vitest";
import { fetched, site, webOf } from "./lab.ts";
import { prose } from "./pages/write.ts";

const page = (mark: string) =>
  `<h1>Long</h1>${Array.from({ length: 60 }, (_, index) => `<h2>Part ${index}</h2><p>${mark}${index} ${prose(4, index + 1)} 🙂 ünïcödé 𝒳</p>`).join("")}`;

/** All pieces of a page, by the index that each gives for the next. */
async function inPieces(
  opened: Awaited<ReturnType<typeof webOf>>,
  args: Record<string, unknown>,
  each = () => {},
) {
  const pieces: string[] = [];
  let start: number | undefined = 0;
  while (start !== undefined) {
    const { text, foot } = await fetched(opened, { ...args, start_index: start });
    const body =
      start === 0 ? text.slice(text.indexOf("\n\n") + 2) : text.slice(text.indexOf("\n") + 1);
    pieces.push(body);
    const next = /start_index=(\d+)/.exec(foot)?.[1];
    start = next === undefined ? undefined : Number(next);
    each();
  }
  return pieces;
}

describe("the pieces of a page", () => {
  it.each([100, 997])("of %i characters join to the full page", async (max_length) => {
    const lab = await site({ "/": page("A") });
    const opened = await webOf([lab]);
    const [whole = ""] = await inPieces(opened, { url: lab.origin, max_length: 15_000 });
    const pieces = await inPieces(opened, { url: lab.origin, max_length });
    expect(pieces.join("").slice(0, whole.length)).toBe(whole);
    expect(pieces.length).toBeGreaterThan(3);
    for (const piece of pieces) expect(piece.isWellFormed()).toBe(true);
    expect(lab.asked).toEqual(["/"]);
  });

  it("are of one download, even if the page changes and is fetched again in between", async () => {
    const lab = await site({ "/": page("A") });
    const opened = await webOf([lab]);
    const pieces = await inPieces(opened, { url: lab.origin, max_length: 4_000 }, () => {
      lab.pages["/"] = page("B");
    });
    const text = pieces.join("");
    for (let index = 0; index < 60; index++) expect(text).toContain(`A${index} `);
    expect(text).not.toContain("B0 ");
    expect((await fetched(opened, { url: lab.origin, max_age: 0 })).text).toContain("B0 ");
  });

  it("of an older download are available by its snapshot", async () => {
    const lab = await site({ "/": page("A") });
    const opened = await webOf([lab]);
    const first = await fetched(opened, { url: lab.origin, max_length: 2_000 });
    const uri = /fetch:\/\/snapshot\/[0-9a-f]{12}/.exec(first.foot)?.[0];
    lab.pages["/"] = page("B");
    await fetched(opened, { url: lab.origin, max_age: 0 });
    const second = await fetched(opened, { url: uri, start_index: 2_000 });
    expect(second.text).toContain("A10 ");
    expect(second.text).not.toContain("B10 ");
  });

  it("are cached as far as they fit, newest first", async () => {
    const big = Buffer.alloc(9_000_000, "word ");
    const pages = Object.fromEntries(
      ["/1", "/2", "/3", "/4", "/5", "/6", "/7"].map((path) => [
        path,
        { headers: { "content-type": "text/plain" }, body: big },
      ]),
    );
    const lab = await site(pages);
    const opened = await webOf([lab]);
    for (const path of Object.keys(pages)) await fetched(opened, { url: lab.origin + path });
    const snapshots = opened.snapshots.all();
    expect(snapshots.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(50_000_000);
    expect(snapshots[0]?.answer.url.pathname).toBe("/7");
    await fetched(opened, { url: `${lab.origin}/7`, start_index: 100 });
    expect(lab.asked.filter((path) => path === "/7")).toHaveLength(1);
  });
});
