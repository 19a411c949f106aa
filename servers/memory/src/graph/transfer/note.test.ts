import { describe, expect, it } from "vitest";
import { parseNote, renderNote } from "./note.ts";
import { FreeStems } from "./note-names.ts";

/** Texts that mean something in Markdown, YAML, links or our escapes. */
const AWKWARD = [
  "two\nlines\r\nand a tab\t",
  " blanks at the ends ",
  "\u00a0other blanks\u2003",
  "<br> &#10; \\<br> \\\\&#1;",
  "[x] a box",
  "[mood] good",
  "[fact] fact",
  "[00:12] said",
  "# heading",
  "- item",
  "[[link]] and ]] and |",
  "a#b^c`d`",
  "%5D %u2028 %20",
  "true",
  "12",
  "2026-01-01",
  "---",
  "key: value",
  'it\'s "quoted"',
  "\u2028 separators \u2029",
  "NUL \0 inside",
  "emoji 👩‍👩‍👧",
  "#tag",
  "null",
  "*",
  "x".repeat(5_000),
];

describe("a note", () => {
  it("keeps any name, type, fact and relation exactly", () => {
    for (const name of AWKWARD) {
      const type = name.slice(0, 400);
      const relations = AWKWARD.map((target) => ({ type, target }));
      const text = renderNote(name, type, AWKWARD, relations);
      const note = parseNote(text);
      expect(note.title, JSON.stringify(name)).toBe(name);
      expect(note.type).toBe(type);
      const observations = note.facts.flatMap((fact) =>
        fact.kind === "observation" ? [fact.content] : [],
      );
      expect(observations).toEqual(AWKWARD);
      const own = note.facts.flatMap((fact) =>
        fact.own && fact.kind === "relation" ? [{ type: fact.type, target: fact.target }] : [],
      );
      expect(own).toEqual(relations);
    }
  });

  it("reads basic-memory's format and leaves the rest", () => {
    const note = parseNote(
      [
        "\ufeff---\r",
        "title: Paul Graham # the writer",
        "type: Person",
        "tags: [essays]",
        "---",
        "* [role] founder #yc (2005)",
        "+ Wrote essays #lisp",
        "- [ ] call him",
        "- [link](https://example.com) text",
        "- 'co founded' [[Y Combinator|YC]] (with others)",
        "- some prose with [[Viaweb#History]] in it",
        "> - [quoted] fact",
        "~~~",
        "- [code] no fact",
        "~~~",
        "`[[code]]` and ![[image.png]]",
      ].join("\n"),
    );
    expect(note).toMatchObject({ title: "Paul Graham", type: "Person" });
    expect(note.facts.map(({ own: _, ...fact }) => fact)).toEqual([
      { kind: "observation", content: "[role] founder #yc (2005)" },
      { kind: "observation", content: "Wrote essays #lisp" },
      { kind: "relation", type: "co founded", target: "Y Combinator" },
      { kind: "relation", type: "links_to", target: "Viaweb" },
    ]);
    expect(note.prose).toContain("some prose with [[Viaweb#History]] in it");
    // Front matter that is not YAML is text.
    expect(parseNote("---\na: [b\n---\n- [x1] fact\n")).toMatchObject({ title: undefined });
  });

  it("gives names that every file system has, each once", () => {
    const alone = (name: string) => new FreeStems().take(name);
    expect(["a/b:c", "CON", "nul.txt", "..", "", "end. ", "é".repeat(300)].map(alone)).toEqual([
      "a-b-c",
      "_CON",
      "_nul.txt",
      "note",
      "note",
      "end",
      "é".repeat(100),
    ]);
    const stems = new FreeStems();
    expect(["Ada", "ADA", "ada", "e\u0301", "\u00e9"].map((name) => stems.take(name))).toEqual([
      "Ada",
      "ADA 2",
      "ada 3",
      "é",
      "é 2",
    ]);
  });
});
