import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { page, type Site } from "../../test/lab.ts";
import { type Session, session, site } from "../../test/session.ts";

interface Page {
  readonly page: string;
  readonly device: string;
  readonly changed: boolean;
  readonly error?: string;
  readonly facts?: string[];
  readonly tree?: string[];
  readonly regions?: string[];
  readonly moved?: string[];
  readonly added?: string[];
  readonly gone?: string[];
  readonly measured?: string[];
  readonly ignored?: string[];
}

const BODY = `<main><h1>Lamps</h1><p>Desk lamp, 49 euros.</p>
  <form><label for="count">How many?</label> <input id="count"><button type="button">Order</button></form>
  <ul><li>Fast delivery</li><li>Free returns</li></ul><div style="height:900px"></div><a href="/about">About us</a></main>`;
const edited = (from: string, to: string) => {
  if (!BODY.includes(from)) throw new Error(`no ${from}`);
  return page(BODY.replace(from, to));
};

let talk: Session;
let old: Site;
beforeAll(async () => {
  talk = await session({ args: ["--concurrency", "2"] });
  old = await site({ "*": page(BODY) });
});

/** Compares the usual page with another version of it. */
async function compared(html: string, more: Record<string, unknown> = {}) {
  const changed = await site({ "/": html });
  const answer = await talk.good("pw_compare", { before: old.url, after: changed.url, ...more });
  const [first] = answer.data.pages as Page[];
  if (first === undefined) throw new Error(answer.text);
  return { ...answer, page: first };
}

describe("pw_compare", () => {
  it("finds no difference in an unchanged page", async () => {
    const { text, page: only, links } = await compared(page(BODY));
    expect(only).toEqual({ page: "/", device: "desktop", changed: false });
    expect(text).toMatch(/^No difference in 1 of 1 page\.\n/);
    expect(links).toEqual([]);
  });

  it("shows a changed text in the tree and in the picture, with links to the pictures", async () => {
    const { text, page: only, links } = await compared(edited("Desk lamp, 49", "Desk lamp, 59"));
    expect(text).toMatch(/^1 of 1 page changed\.\n/);
    expect(only.tree).toEqual([
      '    heading "Lamps" [level=1]',
      "-   paragraph: Desk lamp, 49 euros.",
      "+   paragraph: Desk lamp, 59 euros.",
    ]);
    expect(only.regions).toEqual([
      expect.stringMatching(/^paragraph 'Desk lamp, 59 euros\.' \(\d+,\d+ \d+x\d+, \d+ px\)$/),
    ]);
    expect(only.moved).toBeUndefined();
    expect(links.map(({ name }) => name)).toEqual([
      "home-desktop.actual.png",
      "home-desktop.diff.png",
      "home-desktop.expected.png",
    ]);
  });
});
