import { describe, expect, it } from "vitest";
import { failureOf, fetched, run, site, webOf } from "./lab.ts";
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
const suffix = (n: number) => (n === 1 ? "/guide.html" : `/guide-${n}.html`);
const chapter = (n: number) => `/book/${["", "intro", "setup", "use", "more", "end"][n]}.html`;
const next =
  (path: (n: number) => string, text: string, rel = "") =>
  (n: number) =>
    (n > 1 ? link(path(n - 1), "Previous", rel && "prev") : "") +
    (n < 5 ? link(path(n + 1), text, rel) : "");

describe("joined pages", () => {
  it.each([
    ["numbers in the query", query, () => numbers(query)],
    ["numbers in the path", folder, () => numbers(folder)],
    ["numbers of files", suffix, next(suffix, "Next »")],
    ["rel=next", chapter, next(chapter, "Setup and use", "next")],
    ["an arrow", query, next(query, "»")],
    ["words in the same folder", chapter, next(chapter, "Next page")],
  ])("are found by %s", async (_name, path, links) => {
    const lab = await site(guide(path, links));
    const web = await webOf([lab]);
    const { text, foot } = await fetched(web, {
      url: lab.origin + path(1),
      pages: 10,
      max_length: 20_000,
    });
    for (const n of [1, 2, 3, 4, 5]) expect(text).toContain(`Part ${n}. `);
    expect(text.match(/# The long guide/g)).toHaveLength(1);
    expect(text).toContain("| 5 pages joined | page 2 from index ");
    expect(text).toContain("| no page follows]");
    expect(foot).toMatch(/^\[All /);
    expect(lab.asked).toEqual([1, 2, 3, 4, 5].map(path));
  });

  it("have one index for all pieces, and each page is downloaded once", async () => {
    const lab = await site(guide(query, () => numbers(query)));
    const web = await webOf([lab]);
    const args = { url: lab.origin + query(1), pages: 3 };
    const whole = (await fetched(web, { ...args, max_length: 20_000 })).text
      .split("\n\n")
      .slice(1)
      .join("\n\n");
    let text = "";
    for (let start: number | undefined = 0; start !== undefined; ) {
      const piece = await fetched(web, { ...args, max_length: 400, start_index: start });
      text += piece.text.slice(
        start === 0 ? piece.text.indexOf("\n\n") + 2 : piece.text.indexOf("\n") + 1,
      );
      const from = /start_index=(\d+)/.exec(piece.foot)?.[1];
      start = from === undefined ? undefined : Number(from);
    }
    expect(text).toBe(whole);
    expect(lab.asked).toHaveLength(3);
    const { text: head } = await fetched(web, args);
    const index = Number(/page 2 from index (\d+)/.exec(head)?.[1]);
    expect(whole.slice(index)).toMatch(/^Part 2\./);
    expect(head).toContain(`at least 2 more pages, the next is ${lab.origin}/g?page=4]`);
    expect((await fetched(web, { url: args.url })).text).toContain(
      "| at least 5 pages; pages joins up to 10",
    );
  });

  it("end at a loop, at a repeated text, and at a page that redirects back", async () => {
    const lab = await site({
      "/a": part(1, link("/b", "x", "next")),
      "/b": part(2, link("/a", "x", "next")),
      "/c": part(3, link("/d", "x", "next")),
      "/d": part(3, link("/e", "x", "next")),
      "/f": part(4, link("/back", "x", "next")),
      "/back": { status: 302, headers: { location: "/f" } },
    });
    const web = await webOf([lab]);
    const of = async (path: string) =>
      (await fetched(web, { url: lab.origin + path, pages: 10 })).text;
    expect(await of("/a")).toContain("2 pages joined");
    expect(await of("/a")).toContain("the next page after page 2 is one of these pages");
    expect(await of("/c")).toContain("/d has the same text as an earlier page");
    expect(await of("/f")).toContain("/back redirects to one of these pages");
    expect(lab.asked.length).toBeLessThan(10);
  });

  it("stay on the origin, within the guard and robots.txt, and keep what was read", async () => {
    const inner = await site({ "/": part(9, "") }, { address: "127.0.0.1" });
    const lab = await site({
      "/a": part(1, link(`${inner.origin}/`, "Next", "next")),
      "/b": part(2, link("/out", "Next", "next")),
      "/out": { status: 302, headers: { location: `${inner.origin}/` } },
      "/c": part(3, link("/closed", "Next", "next")),
      "/closed": part(4, ""),
      "/robots.txt": {
        headers: { "content-type": "text/plain" },
        body: "User-agent: *\nDisallow: /closed",
      },
    });
    const web = await webOf([lab]);
    const of = async (path: string) =>
      (await fetched(web, { url: lab.origin + path, pages: 5 })).text;
    expect(await of("/a")).toMatch(/1 page joined \| no page follows\]\n[\s\S]*Part 1\./);
    expect(await of("/b")).toMatch(
      /page 2 could not be fetched: .*(?:loopback|blocked)[\s\S]*Part 2\./,
    );
    expect(await of("/c")).toMatch(/page 2 could not be fetched: .*robots\.txt[\s\S]*Part 3\./);
    expect(inner.asked).toEqual([]);
    expect(lab.asked).not.toContain("/closed");
  });

  it("are refused with section and for the source", async () => {
    const lab = await site({ "/": part(1, "") });
    const web = await webOf([lab]);
    for (const args of [{ section: "The long guide" }, { raw: true }])
      expect(
        await failureOf(run(web, "fetch", { url: lab.origin, pages: 2, ...args })),
      ).toMatchObject({
        kind: "invalid",
        message: expect.stringContaining("pages does not work with"),
      });
  });
});
