import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { ROOT } from "../servers.ts";

/** What marks a translated sentence, and what engineers write. */
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
];
/** They quote: this list itself, pages that tests serve, and texts of others. */
const QUOTING = /^test\/structure\/wording\.test\.ts$|\/test\/pages\/|CHANGELOG\.md$|CODE_OF_CONDUCT\.md$/;

it("sources and pages are in the words that engineers use", async () => {
  const { stdout } = await promisify(execFile)(
    "git",
    ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.ts", "*.mjs", "*.md"],
    { cwd: ROOT, maxBuffer: 10_000_000 },
  );
  const paths = stdout.split("\0").filter((path) => path !== "" && !QUOTING.test(path));
  expect(paths.length).toBeGreaterThan(100);
  const found = paths
    .filter((path) => existsSync(join(ROOT, path)))
    .flatMap((path) =>
      readFileSync(join(ROOT, path), "utf8")
        .split("\n")
        .flatMap((line, index) => {
          const mark = MARKS.find(([pattern]) => pattern.test(line));
          return mark === undefined ? [] : [`${path}:${index + 1}: write “${mark[1]}” in: ${line.trim()}`];
        }),
    );
  expect(found).toEqual([]);
});
