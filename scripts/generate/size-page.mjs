// docs/size.md: how large each part of the workspace is, and how large it may be.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { countCode } from "../lib/count.mjs";
import { ROOT } from "../lib/setup.mjs";

/**
 * Lines of code that each part is to have in the end, and its folders. `done`: the part has been worked on, so that its budget is
 * its limit; until then it must not grow.
 *
 * @type {Record<string, { budget?: number, done?: boolean, folders?: string[] }>}
 */
const PARTS = {
  core: { budget: 6000 },
  boundary: { budget: 2800 },
  testing: { budget: 1600 },
  refmcp: { budget: 1400 },
  sql: { budget: 1800 },
  "embedded-postgres": { budget: 450 },
  documents: { budget: 950 },
  filesystem: { budget: 5900 },
  git: { budget: 5600 },
  postgres: { budget: 4600 },
  sqlite: { budget: 3000 },
  memory: { budget: 4000 },
  fetch: { budget: 3500 },
  playwright: { budget: 7200 },
};
/** Other files, by the first pattern that matches. */
const KINDS = /** @type {const} */ ([
  [
    "generated",
    /(?:^|\/)(?:package|server|manifest|gemini-extension|tsconfig[.\w]*|turbo|biome)\.json$/,
  ],
  ["generated", /^\.|\/surface\//],
  ["jsonSource", /\/src\/.*\.json$/],
  ["json", /\.json$/],
  ["views", /^(?:packages|servers)\/[\w-]+\/views\//],
  ["bench", /(?:^|\/)(?:bench|evals)\/|\/demo\.mjs$|^servers\/\w+\/docs\//],
  ["scripts", /^scripts\//],
  ["tests", /\.test\.ts$|(?:^|\/)test\/|^vitest\.|\/vitest\.config\.ts$/],
]);
const CODE = /\.(?:ts|mts|mjs|cjs|css|sql|json)$/;
const SOURCE = /^((?:packages|servers)\/([\w-]+))\/src\/.*(?<!\.json|\.test\.ts)$/;

/** A sum of files. `whole`: characters with comments and blanks. */
const zero = () => ({ files: 0, lines: 0, characters: 0, whole: 0 });

/** @param {Record<string, ReturnType<typeof zero>>} sums @param {string} name @param {ReturnType<typeof zero>} size */
function add(sums, name, size) {
  const { files, lines, characters, whole } = sums[name] ?? zero();
  sums[name] = {
    files: files + size.files,
    lines: lines + size.lines,
    characters: characters + size.characters,
    whole: whole + size.whole,
  };
}

/** The part of a source file: the one with the longest folder that contains it. @param {string} file */
function partOf(file) {
  const [, folder = "", name = ""] = SOURCE.exec(file) ?? [];
  const owner = Object.entries(PARTS)
    .flatMap(([part, { folders = [] }]) => folders.map((path) => ({ part, path })))
    .filter(({ path }) => file.startsWith(`${path}/`))
    .sort((a, b) => b.path.length - a.path.length)[0];
  return owner?.part ?? (folder === "" ? undefined : name);
}

/** Measures the files that git tracks or would track. */
export async function measure() {
  const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { stdout } = await promisify(execFile)("git", list, { cwd: ROOT, maxBuffer: 10_000_000 });
  const files = [...new Set(stdout.split("\0"))].filter(
    (file) => file !== "" && existsSync(join(ROOT, file)),
  );
  /** @type {Record<string, ReturnType<typeof zero>>} */
  const parts = Object.fromEntries(Object.keys(PARTS).map((part) => [part, zero()]));
  /** @type {Record<string, ReturnType<typeof zero>>} */
  const kinds = {};
  const words = { all: 0, common: 0 };
  for (const file of files) {
    const isPage = file.endsWith(".md");
    if (!isPage && !CODE.test(file)) continue;
    const text = await readFile(join(ROOT, file), "utf8");
    if (isPage) {
      const count = text.match(/\S+/g)?.length ?? 0;
      words.all += count;
      if (!/^(?:servers|\.changeset)\//.test(file)) words.common += count;
      continue;
    }
    const { lines, characters } = countCode(text, extname(file).slice(1));
    const part = SOURCE.test(file) ? partOf(file) : undefined;
    const kind = KINDS.find(([, pattern]) => pattern.test(file))?.[0] ?? "other";
    const size = { files: 1, lines, characters, whole: text.length };
    if (part === undefined) add(kinds, kind, size);
    else add(parts, part, size);
    if (file.endsWith(".sql")) add(kinds, "sql", size);
  }
  return { parts, kinds, words, tracked: files.length };
}

const thousands = (/** @type {number} */ count, digits = 1) => `${(count / 1000).toFixed(digits)}k`;
const megabytes = (/** @type {number} */ count, digits = 2) => `${(count / 1e6).toFixed(digits)}M`;
const tens = (/** @type {number} */ count) => (count < 10 ? count : Math.round(count / 10) * 10);

/**
 * The page, and a sentence for each part that is over its limit: its size when the page was last written with a smaller one, or its
 * budget and a tenth.
 *
 * @param {Awaited<ReturnType<typeof measure>>} sizes
 * @param {string} before the current page; empty if there is none
 */
export function sizePage({ parts, kinds, words, tracked }, before) {
  const problems = [];
  const rows = [];
  /** @type {Record<string, ReturnType<typeof zero>>} */
  const sums = {};
  for (const [part, sum] of Object.entries(parts)) {
    const { budget, done = false } = PARTS[part] ?? {};
    add(sums, "all", sum);
    const last = new RegExp(`^\\| ${part} \\|.*\\| ([\\d.]+)k \\| [\\d.]+k \\|$`, "m").exec(before);
    const bound = Math.min(
      Number(last?.[1] ?? "Infinity") * 1000,
      done ? (budget ?? 0) * 1.1 : 1e9,
    );
    // The page has hundreds, so up to a hundred lines more are the same size.
    if (budget !== undefined && sum.lines > bound + 100)
      problems.push(
        `${part} has ${sum.lines} lines of code, and its limit in docs/size.md is ${thousands(bound)}: make it smaller. For code that moved here from another part, raise the limit in docs/size.md and say so in the commit message.`,
      );
    const limit = budget === undefined ? "" : thousands(Math.min(bound, sum.lines));
    rows.push(
      `| ${part} | ${tens(sum.files)} | ${thousands(sum.lines)} | ${megabytes(sum.characters)} | ${limit} | ${budget === undefined ? "" : thousands(budget, budget % 100 ? 2 : 1)} |`,
    );
  }
  const all = sums.all ?? zero();
  const budgets = Object.values(PARTS).reduce((sum, { budget = 0 }) => sum + budget, 0);
  /** @type {(title: string, kind: string, goal?: string, coarse?: boolean) => string} */
  const kindRow = (title, kind, goal = "", coarse = false) => {
    const sum = kinds[kind] ?? zero();
    return `| ${title} | ${coarse ? thousands(sum.files) : tens(sum.files)} | ${thousands(sum.lines, coarse ? 0 : 1)} | ${megabytes(sum.characters, coarse ? 1 : 2)} | ${goal} |`;
  };
  const page = `# Size

\`npx -y pnpm@10.34.9 size\` writes this page and prints the exact numbers. After a merge conflict here, take either side and run it. Lines of
code are those with more than comments and white space.

## Sources

What is in \`src\`, without tests and \`.json\`. A part must not grow beyond its limit, which falls when it gets smaller.

| Part | Files | Lines of code | Characters | Limit | Budget |
|---|--:|--:|--:|--:|--:|
${rows.join("\n")}
| **all** | ${tens(all.files)} | ${thousands(all.lines)} | ${megabytes(all.characters)} | | ${thousands(budgets)} |

With comments and blanks: ${megabytes(all.whole)} characters, goal 2.70M.

## Everything else

Generated files, lockfiles and settings do not count.

| What | Files | Lines of code | Characters | Goal |
|---|--:|--:|--:|--:|
${kindRow("Views, with their style sheets", "views", "1.9k")}
${kindRow("Other `.json`: data of tests, evals and benchmarks", "json")}
${kindRow("Scripts, with the templates of `pnpm new`", "scripts", "3.5k")}
${kindRow("Tests and their helpers", "tests", "45k", true)}
${kindRow("Benchmarks, evals and demos", "bench", "", true)}

| What | Count | Goal |
|---|--:|--:|
| Words in all \`.md\` files | ${thousands(words.all, 0)} | 30k |
| … without those of servers and changesets | ${thousands(words.common, 0)} | 11k |
| Files that git tracks | ${thousands(tracked)} | 1.3k |
`;
  return { page, problems };
}

/**
 * Whether each figure of a page is at most one step of its last digit away from the new one, and the rest is the same.
 *
 * @param {string} before @param {string} page
 */
export function isCurrent(before, page) {
  const NUMBER = /\d+(?:\.\d+)?k?/g;
  if (before.replace(NUMBER, "#") !== page.replace(NUMBER, "#")) return false;
  const steps = (/** @type {string} */ text) =>
    [...text.matchAll(NUMBER)].map(([figure]) =>
      /[.k]/.test(figure) ? Number(figure.replace(/[.k]/g, "")) : Number(figure) / 10,
    );
  const now = steps(page);
  return steps(before).every((figure, index) => Math.abs(figure - (now[index] ?? 0)) <= 1);
}
