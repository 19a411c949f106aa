import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { ROOT } from "../servers.ts";

/** Marks of a translated sentence, and what engineers write instead. */
const MARKS: readonly (readonly [mark: RegExp, instead: string])[] = [
  [/\b(?:MOST|LONGEST|LARGEST|LEAST)_[A-Z]/, "MAX_…, MIN_…"],
  [/\b(?:anew|wholly)\b/, "again, entirely"],
  [/\bso many\b/, "at most N, this many, a limited number of"],
  [/\bstands? (?:there|for|under|behind|alone|beside)\b/, "exists, means, represents; is under"],
  [/\bstands? in (?:the|an?|its|their|it|them|git's|front)\b/, "is in"],
  [/\b(?:are|is) there already\b|\bexists already\b/, "already exists"],
  [/\bcannot be had\b/, "is unavailable"],
  [/\b[Bb]eside\b/, "next to, with, in addition to"],
  [/\blies (?:in|inside|outside|below|on|behind|there)\b/, "is in, is below"],
  [
    /(?<!\b[Tt]here )\b(?:is|are|was|were) no (?!longer|more\b|larger|older|better|different)[a-z]/,
    "is not a, is not",
  ],
  [/\bof (?:ours|yours|theirs|its own|their own)\b/, "our …, your …, its own …, a separate …"],
  [/\bas (?:it is|they are)\b/, "unchanged, as is"],
  [/\b[Mm]eanwhile\b/, "since, in between, at the same time"],
  [
    /\b(?:spells?|spelled|spelt|mends?|mended|bears|dear|dearer)\b/,
    "write, fix, handle, expensive",
  ],
  [/\b(?:the like|for ever|under way|outside of)\b/, "similar, forever, in progress, outside"],
  [/\bfor good\b/, "permanently"],
  [/\b[Aa] fault of (?:the|this) server\b/, "internal error"],
  [/\bin the (?:place|way) of\b/, "instead of, as"],
  [/\banswers? the (?:diff|list|page|facts)\b/, "returns the …"],
  [/\|\|\|/, "the text on one side of it: two versions were joined"],
  [/\b(?:[Bb]ehaviour|[Nn]eighbours|[Cc]olours?|[Dd]efences?)\b/, "American spelling"],
];
/** In pages outside code: a sentence that begins without a space, in lower case, is a part of another text. */
const JOINED =
  /[a-z)`]\.(?:a|an|and|as|by|for|from|in|is|it|its|of|on|or|such|that|the|this|to|use|when|which|with)\s/;
/** Files that quote: this list, pages that tests serve, and texts by others. */
const QUOTING =
  /^test\/structure\/wording\.test\.ts$|\/test\/pages\/|CHANGELOG\.md$|CODE_OF_CONDUCT\.md$/;

it("sources and pages are in the words that engineers use", async () => {
  const asked = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { stdout } = await promisify(execFile)("git", [...asked, "*.ts", "*.mjs", "*.md"], {
    cwd: ROOT,
    maxBuffer: 10_000_000,
  });
  const paths = stdout
    .split("\0")
    .filter((path) => path !== "" && !QUOTING.test(path) && existsSync(join(ROOT, path)));
  expect(paths.length).toBeGreaterThan(100);
  const any = new RegExp(MARKS.map(([{ source }]) => source).join("|"));
  const problems = paths.flatMap((path) => {
    const text = readFileSync(join(ROOT, path), "utf8");
    const isPage = path.endsWith(".md");
    if (!any.test(text) && !(isPage && JOINED.test(text))) return [];
    return text.split("\n").flatMap((line, index) => {
      const at = `${path}:${index + 1}`;
      if (isPage && JOINED.test(line.replace(/`[^`]*`/g, "``")))
        return [`${at}: a sentence is joined to another in: ${line.trim()}`];
      const mark = MARKS.find(([pattern]) => pattern.test(line));
      return mark === undefined ? [] : [`${at}: write “${mark[1]}” in: ${line.trim()}`];
    });
  });
  expect(problems).toEqual([]);
});
