import { fits, shortened } from "../verdict/report.ts";
import type { Comparison } from "./compare.ts";

type Page = Comparison["pages"][number];

/** The lists of a page, and how each of their lines begins in the text. */
const LISTS = [
  ["facts", ""],
  ["tree", ""],
  ["regions", "picture: "],
  ["moved", ""],
  ["added", "new "],
  ["gone", "gone: "],
  ["measured", ""],
  ["ignored", "ignored: "],
] as const;

/** How many lines of each list and characters of each line are shown, from plenty to few. */
const SIZES = [
  { lines: 40, chars: 300, links: 24 },
  { lines: 15, chars: 200, links: 12 },
  { lines: 6, chars: 120, links: 6 },
  { lines: 2, chars: 80, links: 3 },
  { lines: 0, chars: 0, links: 0 },
];

/** A comparison that fits into `budget` characters, as structure and as text; report.json has all of it. */
export function fittingComparison(report: Comparison, budget: number): Comparison {
  let fit = report;
  for (const size of SIZES) {
    fit = {
      ...report,
      pages: report.pages.map((page) => cutPage(page, size)),
      artifacts: report.artifacts.slice(0, size.links),
    };
    if (fits(fit, comparisonText(fit), budget)) break;
  }
  return fit;
}

function cutPage(page: Page, { lines, chars }: (typeof SIZES)[number]): Page {
  const cut: Page = { ...page };
  let left = 0;
  for (const [list] of LISTS) {
    const all = page[list];
    if (all === undefined) continue;
    left += Math.max(0, all.length - lines);
    cut[list] = all.slice(0, lines).map((line) => shortened(line, chars));
    if (lines === 0) delete cut[list];
  }
  return left === 0 ? cut : { ...cut, not_shown: left };
}

/** The answer for people and for hosts without structured content. */
export function comparisonText({
  summary,
  pages,
  run_id,
  notes = [],
  artifacts,
  durationMs,
}: Comparison): string {
  const same = pages.filter(
    (page) => !page.changed && page.error === undefined && page.measured === undefined,
  );
  const ignored = [...new Set(same.flatMap((page) => page.ignored ?? []))];
  const others = pages.filter((page) => !same.includes(page) && page.error === undefined);
  const errors = new Set(pages.flatMap(({ error = [] }) => error));
  const timed = pages.some(({ measured }) => measured !== undefined);
  return [
    summary,
    ...others.flatMap(pageLines),
    ...[...errors].map((error) => {
      const failed = pages.filter((page) => page.error === error);
      return `${failed.map(label).join(", ")}: ${error}`;
    }),
    ...ignored.map((line) => `ignored on unchanged pages: ${line}`),
    ...(timed
      ? ["Times are ranges over the loads of each version on this machine: a hint, not a verdict."]
      : []),
    ...notes.map((note) => `note: ${note}`),
    `${durationMs} ms, run ${run_id}`,
    ...artifacts.map(({ path }) => path),
  ].join("\n");
}

function pageLines(page: Page): string[] {
  const state = page.changed ? "changed" : "measured differently";
  const lines = LISTS.flatMap(([list, begins]) =>
    (page[list] ?? []).map((line) => `  ${begins}${line}`),
  );
  const more =
    page.not_shown === undefined ? [] : [`  ${page.not_shown} more lines in the run's report.json`];
  return [`${label(page)}: ${state}`, ...lines, ...more];
}

const label = ({ page, device }: Page) => `${page} [${device}]`;
