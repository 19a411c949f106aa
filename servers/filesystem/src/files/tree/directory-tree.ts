import { type WalkedEntry as Entry, TimeSlices, type WalkedDirectory } from "@refmcp/boundary";
import { grouped, oneLine } from "@refmcp/boundary/answer";
import { counted } from "../errors.ts";
import type { Files } from "../files.ts";
import { withDirectory } from "../open-path.ts";
import { compileExclusion, type Exclusion } from "../search/glob.ts";
import { type IgnoreRules, ignoreRules } from "../search/ignore.ts";
import { type Report, reporter } from "./reporter.ts";

interface TreeRequest {
  readonly path: string;
  readonly max_depth: number;
  readonly max_entries: number;
  readonly excludePatterns: readonly string[];
  readonly include_ignored: boolean;
  readonly budget: number;
  readonly signal?: AbortSignal;
  /** Gets the number of directories that were read. */
  readonly progress?: Report;
}

interface Branch {
  readonly path: string;
  readonly depth: number;
  readonly ignore: IgnoreRules | undefined;
  /** Its lines that may be shown; none if it was not, or cannot be, read. */
  readonly entries: readonly Line[];
  /** How many of these lines are shown. */
  shown: number;
  readonly branches: Map<string, Branch>;
}

/** An entry, and how many files with a similar name its line represents in addition. */
interface Line extends Entry {
  readonly alike: number;
}

/** At least this many files whose names differ only in digits are shown as one line. */
const MIN_ALIKE = 10;
/** The maximum characters of the lines around the entries. */
const FRAME = 1_000;

/**
 * Shows the directory at `path` as indented text: directories end in `/`, links in `@`, and `+N more` counts the
 * entries of a directory that are not shown. Files whose names differ only in digits, such as pictures, share a line if
 * there are at least ten. A line of facts in square brackets follows. A name that could be mistaken
 * for one of our lines or marks is quoted and escaped.
 *
 * Upper levels are filled before lower ones, and each directory of a level gets a fair share of `max_entries`. Only
 * shown directories are read, so the size of the whole tree does not matter.
 */
export async function drawTree(
  { guard, ignored }: Pick<Files, "guard" | "ignored">,
  request: TreeRequest,
): Promise<string> {
  const exclude = compileExclusion(request.excludePatterns);
  return withDirectory(guard, request.path, async (root) => {
    const ignore = request.include_ignored ? undefined : await ignoreRules(guard, root, ignored);
    const { trunk, facts } = await grow(request, exclude, await guard.walk(root), ignore);
    await root.verify();
    return `${oneLine(root.path)}/\n${draw(trunk, 1)}[${facts.join(" ")}]`;
  });
}

/** The tree's entries that are shown, and the facts about it. */
async function grow(
  { max_depth, max_entries, include_ignored, budget, signal, progress }: TreeRequest,
  exclude: Exclusion,
  root: WalkedDirectory,
  outermost: IgnoreRules | undefined,
): Promise<{ trunk: Branch; facts: string[] }> {
  let entriesLeft = max_entries;
  let charsLeft = budget - FRAME - root.realPath.length;
  let [totalShown, hidden, unreadable] = [0, 0, 0];
  let folded = 0;
  const isCut = { depth: false, entries: false, chars: false };
  const slices = new TimeSlices(signal);
  const done = reporter(progress);
  const trunk = read("", 0, outermost);
  for (let level = [trunk]; level.length > 0; ) {
    share(level);
    level = await nextLevel(level);
  }
  return { trunk, facts: factsOf() };

  /**
   * Divides the remaining entries among the directories of a level: small ones are shown completely, large ones get
   * equal shares.
   */
  function share(level: readonly Branch[]): void {
    const bySize = level.toSorted((a, b) => a.entries.length - b.entries.length);
    for (const [index, branch] of bySize.entries()) {
      const { entries, depth } = branch;
      const left = bySize.length - index;
      const max = Math.min(entries.length, Math.floor(entriesLeft / left));
      const chars = Math.floor(charsLeft / left);
      let used = 0;
      for (const entry of entries.slice(0, max)) {
        const cost = costOf(entry, depth + 1);
        if (used + cost > chars) {
          isCut.chars = true;
          break;
        }
        used += cost;
        branch.shown += 1;
        folded += entry.alike;
      }
      if (max < entries.length) isCut.entries = true;
      entriesLeft -= branch.shown;
      charsLeft -= used;
      totalShown += branch.shown;
    }
  }

  async function nextLevel(level: readonly Branch[]): Promise<Branch[]> {
    const next: Branch[] = [];
    for (const branch of level) {
      for (const { name, type } of branch.entries.slice(0, branch.shown)) {
        if (type !== "directory") continue;
        if (slices.due()) await slices.rest();
        const path = branch.path === "" ? name : `${branch.path}/${name}`;
        if (exclude.hidesContents(path)) continue;
        const child = read(path, branch.depth + 1, branch.ignore);
        done(1);
        branch.branches.set(name, child);
        if (child.depth < max_depth) next.push(child);
        else if (child.entries.length > 0) isCut.depth = true;
      }
    }
    return next;
  }

  function read(path: string, depth: number, outer: IgnoreRules | undefined): Branch {
    const branch = { path, depth, ignore: outer, entries: [], shown: 0, branches: new Map() };
    // Opened from the root, component by component, so that no swapped link leads outside.
    const opened: WalkedDirectory[] = [];
    try {
      let directory = root;
      for (const name of path === "" ? [] : path.split("/")) {
        const child = directory.child(name);
        if (child === "unreadable") unreadable += 1;
        if (typeof child === "string") return branch;
        opened.push(child);
        directory = child;
      }
      const all = directory.entries();
      if (all === undefined) {
        unreadable += 1;
        return branch;
      }
      const prefix = path === "" ? "" : `${path}/`;
      const ignore = outer?.enter(directory, all, prefix);
      const entries = all.filter(({ name, type }) => {
        const isDirectory = type === "directory";
        const isHidden =
          name === ".git" || ignore?.hides(prefix + name, name, isDirectory) === true;
        if (isHidden) hidden += 1;
        return !isHidden && !exclude.hides(prefix + name, name, isDirectory);
      });
      return { ...branch, ignore, entries: fold(entries) };
    } finally {
      for (const one of opened) one.close();
    }
  }

  function factsOf(): string[] {
    const limits = `max_depth ${max_depth}, max_entries ${grouped(max_entries)}`;
    const facts = [`${counted(totalShown, "entry", "entries")} shown (${limits}).`];
    if (folded > 0)
      facts.push(`${grouped(folded)} more are like those shown; list_directory lists each.`);
    if (isCut.depth) facts.push("Deeper levels: raise max_depth or ask for a subdirectory.");
    if (isCut.chars)
      facts.push("The response is full: ask for a subdirectory, or page with list_directory.");
    else if (isCut.entries)
      facts.push(
        "More entries: raise max_entries, ask for a subdirectory, or page with list_directory.",
      );
    if (hidden > 0 && !include_ignored) {
      const what = `${grouped(hidden)} hidden by ignore rules or .git`;
      facts.push(`${what}; include_ignored=true shows the ignored ones.`);
    }
    if (unreadable > 0) facts.push(`${grouped(unreadable)} directories could not be read.`);
    return facts;
  }
}

function draw({ entries, shown, branches }: Branch, depth: number): string {
  let text = "";
  for (const entry of entries.slice(0, shown)) {
    const child = branches.get(entry.name);
    text += lineOf(entry, depth) + (child === undefined ? "" : draw(child, depth + 1));
  }
  const more = entries.slice(shown).reduce((sum, { alike }) => sum + 1 + alike, 0);
  return more > 0 ? text + moreLine(more, depth) : text;
}

/** Files whose names differ only in digits become one line, at the place of the first, if there are at least ten. */
function fold(entries: readonly Entry[]): Line[] {
  const templates = entries.map(({ name, type }) =>
    type === "file" && /\d/.test(name) ? name.replace(/\d+/g, "0") : undefined,
  );
  const counts = new Map<string, number>();
  for (const template of templates)
    if (template !== undefined) counts.set(template, (counts.get(template) ?? 0) + 1);
  const seen = new Set<string>();
  return entries.flatMap((entry, index) => {
    const template = templates[index];
    const count = template === undefined ? 1 : (counts.get(template) ?? 1);
    if (template === undefined || count < MIN_ALIKE) return [{ ...entry, alike: 0 }];
    if (seen.has(template)) return [];
    seen.add(template);
    return [{ ...entry, alike: count - 1 }];
  });
}

function lineOf({ name, type, alike }: Line, depth: number): string {
  const mark = type === "directory" ? "/" : type === "link" ? "@" : type === "other" ? "=" : "";
  const more = alike > 0 ? ` … +${grouped(alike)} more like it` : "";
  return `${"  ".repeat(depth)}${plainName(name)}${mark}${more}\n`;
}

/** Reserves space for a directory's line about omitted entries. */
function costOf(entry: Line, depth: number): number {
  const line = lineOf(entry, depth).length;
  return entry.type === "directory" ? line + moreLine(1_000_000, depth + 1).length : line;
}

function moreLine(more: number, depth: number): string {
  return `${"  ".repeat(depth)}+${grouped(more)} more\n`;
}

/** Quotes a name with control characters, leading or trailing spaces, or the marks of our own lines. */
function plainName(name: string): string {
  const line = oneLine(name);
  return line !== name || /^[\s"+[]|[\s@=/]$| … \+/.test(name)
    ? `"${line.replaceAll('"', '\\"')}"`
    : name;
}
