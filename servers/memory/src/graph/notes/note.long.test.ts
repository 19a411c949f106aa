import { describe, expect, it } from "vitest";
import { readmes } from "../../../test/readmes.ts";
import { FreeStems, stemOf } from "./names.ts";
import { editNote, keyOf, parseNote, renderNote } from "./note.ts";

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
      const renamed = editNote(text, { title: "New: name", type: "other", remove: () => true });
      expect(parseNote(renamed)).toMatchObject({ title: "New: name", type: "other" });
      expect(parseNote(renamed).facts.filter((fact) => fact.own)).toEqual([]);
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
    expect(note.facts.map(({ line: _, own: __, ...fact }) => fact)).toEqual([
      { kind: "observation", content: "[role] founder #yc (2005)" },
      { kind: "observation", content: "Wrote essays #lisp" },
      { kind: "relation", type: "co founded", target: "Y Combinator" },
      { kind: "relation", type: "links_to", target: "Viaweb" },
    ]);
    expect(note.prose).toContain("some prose with [[Viaweb#History]] in it");
    // Front matter that is not YAML is text.
    expect(parseNote("---\na: [b\n---\n- [x1] fact\n")).toMatchObject({ title: undefined });
  });

  it("changes only the lines of facts in foreign texts", () => {
    const texts = readmes(150);
    expect(texts.length).toBeGreaterThan(50);
    for (const text of texts) {
      expect(editNote(text, {})).toBe(text);
      const added = editNote(text, {
        observations: ["likes tea"],
        relations: [{ type: "knows", target: "Bo" }],
      });
      const lines = (from: string) => from.split("\n").filter((line) => line.trim() !== "");
      const left = lines(added);
      // All lines are still there, in the same order.
      for (const line of lines(text))
        expect(left.splice(0, left.indexOf(line) + 1).at(-1)).toBe(line);
      expect(parseNote(added).facts.map(keyOf)).toEqual(
        expect.arrayContaining([
          keyOf({ content: "likes tea" }),
          keyOf({ type: "knows", target: "Bo" }),
        ]),
      );
      const again = editNote(added, {
        remove: (fact) => keyOf(fact) === keyOf({ content: "likes tea" }),
      });
      expect(parseNote(again).facts.map(keyOf)).not.toContain(keyOf({ content: "likes tea" }));
      const titled = editNote(text, { title: "T" });
      expect(parseNote(titled).title).toBe("T");
    }
    const example = "```\n## Observations\n```\n";
    expect(editNote(example, { observations: ["x"] })).toBe(
      `${example}\n## Observations\n- [fact] x\n`,
    );
    expect(editNote("~~~\nopen", { observations: ["x"] })).toBe(
      "~~~\nopen\n~~~\n\n## Observations\n- [fact] x\n",
    );
    const windows = "---\r\ntitle: Ada\r\n---\r\n\r\n- [a] one\r\ntext";
    expect(editNote(windows, { observations: ["two"], title: "Bo" })).toBe(
      "---\r\ntitle: Bo\r\n---\r\n\r\n- [a] one\r\n- [fact] two\r\ntext",
    );
  });

  it("finds again what it adds to any text", () => {
    const parts = [
      "- ",
      "[a1] ",
      "[[",
      "]]",
      "\n",
      "\r\n",
      "text",
      "---",
      "\n---\n",
      "title: x",
      "`",
      "```",
      "~~~",
      "# h",
    ];
    parts.push(
      "## Observations\n",
      "> ",
      "|",
      "\\",
      "<br>",
      "&#10;",
      "\t",
      "é",
      "\ufeff",
      "type: y\n",
      '"',
      "(c)",
    );
    let seed = 1;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % below;
    };
    for (let round = 0; round < 3_000; round++) {
      const text = Array.from({ length: random(25) }, () => parts[random(parts.length)]).join("");
      expect(editNote(text, {})).toBe(text);
      const added = editNote(text, {
        observations: ["new"],
        relations: [{ type: "is", target: "New" }],
        title: "T",
      });
      const note = parseNote(added);
      expect(note.title, JSON.stringify(text)).toBe("T");
      expect(note.facts.map(keyOf), JSON.stringify(text)).toEqual(
        expect.arrayContaining([keyOf({ content: "new" }), keyOf({ type: "is", target: "New" })]),
      );
    }
  });

  it("gives names that every file system has, each once", () => {
    expect(["a/b:c", "CON", "nul.txt", "..", "", "end. ", "é".repeat(300)].map(stemOf)).toEqual([
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
