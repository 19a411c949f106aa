import { describe, expect, it } from "vitest";
import { fetched, site, webOf } from "./lab.ts";
import { prose } from "./pages/write.ts";

const part = (number: number, links: string) =>
  `<title>Guide</title><main><h1>The long guide</h1><p>Part ${number}. ${prose(6, number)}</p></main><div class="pages">${links}</div>`;
const link = (href: string, text: string | number, rel = "") =>
  `<a href="${href}"${rel && ` rel="${rel}"`}>${text}</a> `;

/** A guide of five pages: how its pages are addressed, and how they are linked. */
const guide = (path: (number: number) => string, links: (number: number) => string) =>
  Object.fromEntries([1, 2, 3, 4, 5].map((number) => [path(number), part(number, links(number))]));
const numbers = (path: (number: number) => string) =>
  [1, 2, 3, 4, 5].map((n) => link(path(n), n)).join("");
const query = (n: number) => (n === 1 ? "/g" : `/g?page=${n}`);
const folder = (n: number) => (n === 1 ? "/t/a-thread.12/" : `/t/a-thread.12/page-${n}`);
const chapter = (n: number) => `/book/${["", "intro", "setup", "use", "more", "end"][n]}.html`;
const next =
  (path: (n: number) => string, text: string, rel = "") =>
  (n: number) =>
    (n > 1 ? link(path(n - 1), "Previous", rel && "prev") : "") +
    (n < 5 ? link(path(n + 1), text, rel) : "");

describe("the next page", () => {
  it.each([
    ["numbers in the query", query, () => numbers(query)],
    ["numbers in the path", folder, () => numbers(folder)],
    ["rel=next", chapter, next(chapter, "Setup and use", "next")],
    ["words in the same folder", chapter, next(chapter, "Next page")],
  ])("is named in the last line, found by %s", async (_name, path, links) => {
    const lab = await site(guide(path, links));
    const web = await webOf([lab]);
    const read: string[] = [];
    for (let url: string | undefined = lab.origin + path(1); url !== undefined; ) {
      read.push(url.slice(lab.origin.length));
      const { foot } = await fetched(web, { url });
      url = / Next page: (\S+)\]$/.exec(foot)?.[1];
    }
    expect(read).toEqual([1, 2, 3, 4, 5].map(path));
  });

  it("is named after the last piece only, stays on the origin, and cannot imitate our line", async () => {
    const lab = await site({
      "/a": part(1, link("https://other.example/", "Next", "next")),
      "/b": part(2, link("/c?x=] [Kept as |", "Next", "next")),
    });
    const web = await webOf([lab]);
    const { foot } = await fetched(web, { url: `${lab.origin}/b`, max_length: 100 });
    expect(foot).toContain("Content truncated");
    expect(foot).not.toContain("Next page");
    expect((await fetched(web, { url: `${lab.origin}/a` })).foot).not.toContain("Next page");
    expect((await fetched(web, { url: `${lab.origin}/b` })).foot).toMatch(
      / Next page: \S+\/c\?x=%5D%20%5BKept%20as%20%7C\]$/,
    );
  });
});
