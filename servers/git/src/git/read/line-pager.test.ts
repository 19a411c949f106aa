import { describe, expect, it } from "vitest";
import { LinePager } from "./line-pager.ts";

/** Feeds a text in chunks of every size, and expects the same page each time. */
function pageOf(text: string, options: Partial<ConstructorParameters<typeof LinePager>[0]>) {
  const all = { skip: 0, maxLines: 100, maxBytes: 10_000, maxLineBytes: 1_000, ...options };
  const pages = [1, 2, 3, 7, text.length + 1].map((size) => {
    const pager = new LinePager(all);
    const bytes = Buffer.from(text);
    for (let start = 0; start < bytes.length; start += size)
      if (!pager.take(bytes.subarray(start, start + size))) break;
    const { lines, ...rest } = pager.page();
    return { ...rest, lines: lines.map(String) };
  });
  for (const page of pages) expect(page).toEqual(pages[0]);
  return pages[0];
}

describe("linePager", () => {
  it("accepts lines as they come, even an unterminated last one", () => {
    expect(pageOf("a\nbb\n\nc", {})).toMatchObject({ lines: ["a", "bb", "", "c"], more: false });
    expect(pageOf("a\n", {})).toMatchObject({ lines: ["a"], more: false });
    expect(pageOf("", {})).toMatchObject({ lines: [], more: false });
  });

  it("skips and limits by lines and by bytes, and reports whether there is more", () => {
    expect(pageOf("a\nb\nc\nd\n", { skip: 1, maxLines: 2 })).toMatchObject({
      lines: ["b", "c"],
      more: true,
    });
    expect(pageOf("a\nb\nc\n", { maxLines: 3 })).toMatchObject({
      lines: ["a", "b", "c"],
      more: false,
    });
    expect(pageOf("aaaa\nbbbb\ncccc\n", { maxBytes: 10 })).toMatchObject({
      lines: ["aaaa", "bbbb"],
      more: true,
    });
    expect(pageOf("too long for it\nb\n", { maxBytes: 5 })).toMatchObject({
      lines: ["too long for it"],
      more: true,
    });
  });

  it("truncates a long line and keeps nothing of the rest", () => {
    expect(pageOf("abcdefgh\nij\n", { maxLineBytes: 3 })).toMatchObject({
      lines: ["abc", "ij"],
      cutLines: 1,
    });
    expect(pageOf("abc\n", { maxLineBytes: 3 })).toMatchObject({ lines: ["abc"], cutLines: 0 });
  });
});
