import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { ROOT } from "../servers.ts";

/** Marks of a translated sentence, and what engineers write instead. */
const MARKS: readonly (readonly [mark: RegExp, instead: string])[] = [
  [/\b(?:MOST|LONGEST|LARGEST)_[A-Z]/, "MAX_…"],
  [/\bLEAST_[A-Z]/, "MIN_…"],
  [/\banew\b/, "again"],
  [/\bwholly\b/, "entirely"],
  [/\bso many\b/, "at most N, this many, a limited number of"],
  [/\bthe user's word\b/, "the user's confirmation"],
  [/\bstands? in (?:the|an?|its|their|it|them|git's|front)\b/, "is in"],
  [/\bstands? there\b/, "is there, exists"],
  [/\bbehind the end\b/, "past the end"],
  [/\bbelongs? into\b/, "belongs in"],
  [/\boutside of what\b/, "outside the …"],
  [/\b(?:is|are) there already\b/, "already exists"],
  [/\bcannot be had\b/, "is unavailable"],
  [/\btelling [A-Z]/, "read-only …"],
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
    /\b(?:spell|spells|spelled|spelt|mend|mends|mended|bears|dear)\b/,
    "write, fix, handle, expensive",
  ],
  [
    /\b(?:scene|scenes|door|doors|takeOver|makeGround|changedMeanwhile)\b/,
    "demo, entry point, a verb of the field",
  ],
  [
    /\b(?:the like|for ever|under way|outside of|exists already)\b/,
    "similar, forever, in progress, outside, already exists",
  ],
  [/\bfor good\b/, "permanently"],
  [/\bis not reached\b|\bIf it is meant\b/, "is blocked; to allow it, …"],
  [/\b[Aa] fault of (?:the|this) server\b/, "internal error"],
  [/\bstands? (?:for|under|behind|alone|beside)\b/, "means, represents, replaces; is under"],
  [/\bin (?:its|their) turn\b|\bthere already\b/, "itself, existing"],
  [/\bin the (?:place|way) of\b/, "instead of, as"],
  [/\bhangs? on (?:it|an?|the|them)\b/, "belongs to"],
  [/\bwhat (?:came|comes|became) of\b/, "the result, the outcome"],
  [/\banswers? the (?:diff|list|page|facts)\b/, "returns the …"],
  [/\b(?:makes?|made) where there (?:is|are) no/, "creates a missing …"],
  [/\b(?:dearer|dearest|yardstick)\b/, "more expensive, reference"],
  [/\bknows? nothing of\b/, "does not depend on"],
  [/\b(?:is|are) met\b/, "is found, is exceeded"],
  [/\bof (?:that|this) very\b|\bthis very\b/, "of this"],
  [/\bdecides? nothing\b/, "does not determine …"],
  [/\bone too many\b/, "beyond the limit"],
  [/\bcount(?:s|ing)? towards\b/, "counts toward"],
  [/\|\|\|/, "the text on one side of it: two versions were joined"],
  [/\b(?:behaviour|neighbours|colours?|defences?)\b/i, "American spelling"],
];
/** In pages outside code: a sentence that begins without a space, in lower case, is a part of another text. */
const JOINED =
  /[a-z)`]\.(?:a|an|and|as|by|for|from|in|is|it|its|of|on|or|such|that|the|this|to|use|when|which|with)\s/;
/** Files that quote: this list, pages that tests serve, and texts by others. */
const QUOTING =
  /^test\/structure\/wording\.test\.ts$|\/test\/pages\/|CHANGELOG\.md$|CODE_OF_CONDUCT\.md$/;
/** Everything, or in a server's own run (vitest.shared.ts) that server. */
const FOLDER = dirname(process.cwd()) === join(ROOT, "servers") ? process.cwd() : ROOT;

it("sources and pages are in the words that engineers use", async () => {
  const { stdout } = await promisify(execFile)(
    "git",
    [
      "ls-files",
      "-z",
      "--full-name",
      "--cached",
      "--others",
      "--exclude-standard",
      "*.ts",
      "*.mjs",
      "*.md",
    ],
    { cwd: FOLDER, maxBuffer: 10_000_000 },
  );
  const paths = stdout.split("\0").filter((path) => path !== "" && !QUOTING.test(path));
  expect(paths.length).toBeGreaterThan(10);
  const found = paths
    .filter((path) => existsSync(join(ROOT, path)))
    .flatMap((path) =>
      readFileSync(join(ROOT, path), "utf8")
        .split("\n")
        .flatMap((line, index) => {
          const at = `${path}:${index + 1}`;
          if (path.endsWith(".md") && JOINED.test(line.replace(/`[^`]*`/g, "``")))
            return [`${at}: a sentence is joined to another in: ${line.trim()}`];
          const mark = MARKS.find(([pattern]) => pattern.test(line));
          return mark === undefined ? [] : [`${at}: write “${mark[1]}” in: ${line.trim()}`];
        }),
    );
  expect(found).toEqual([]);
});
