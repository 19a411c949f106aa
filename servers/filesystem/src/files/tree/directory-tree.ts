import { type WalkedEntry as Entry, TimeSlices, type WalkedDirectory } from "@refmcp/boundary";
import { digits, oneLine } from "@refmcp/boundary/answer";
import { counted } from "../errors.ts";
import type { Files } from "../files.ts";
import { withDirectory } from "../open-path.ts";
import { compileExclusion } from "../search/glob.ts";
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
  /** Its lines that may be shown; none if it cannot be read. */
  readonly entries: readonly Entry[];
  /** How many of these lines are shown. */
  count: number;
  readonly branches: Map<string, Branch>;
}

/** The maximum characters of the lines around the entries. */
const FRAME = 1_000;

/**
 * Shows the directory at `path` as indented text: directories end in `/`, links in `@`, and `+N more` counts the
 * entries of a directory that are not shown. A line of facts in square brackets follows. A name that could be mistaken for
 * one of our lines or marks is quoted and escaped.
 *
 * Upper levels are filled before lower ones, and the directories of a level share what is left of `max_entries`. Only
 * shown directories are read, so the size of the whole tree does not matter.
 */
export async function drawTree(
  { guard, ignored }: Pick<Files, "guard" | "ignored">,
  request: TreeRequest,
): Promise<string> {
  const { path, max_depth, max_entries, include_ignored, budget, signal } = request;
  const exclude = compileExclusion(request.excludePatterns);
  return withDirectory(guard, path, async (directory) => {
    const ignore = include_ignored ? undefined : await ignoreRules(guard, directory, ignored);
    const root = await guard.walk(directory);
    let entriesLeft = max_entries;
    let charsLeft = budget - FRAME - root.realPath.length;
    let [hidden, unreadable, deeper] = [0, 0, 0];
    const slices = new TimeSlices(signal);
    const done = reporter(request.progress);
    const trunk = read("", 0, ignore);
    for (let level = [trunk]; level.length > 0; ) {
      const next: Branch[] = [];
      // Small directories leave more to large ones.
      const bySize = level.toSorted((a, b) => a.entries.length - b.entries.length);
      for (const [index, branch] of bySize.entries()) {
        share(branch, level.length - index);
        for (const { name } of shownDirectories(branch)) {
          if (slices.isDue()) await slices.yieldToOthers();
          const below = branch.path === "" ? name : `${branch.path}/${name}`;
          if (exclude.hidesContents(below)) continue;
          const child = read(below, branch.depth + 1, branch.ignore);
          done(1);
          branch.branches.set(name, child);
          if (child.depth < max_depth) next.push(child);
          else deeper += child.entries.length;
        }
      }
      level = next;
    }
    await directory.verify();
    return `${oneLine(directory.path)}/\n${draw(trunk, 1)}[${factsOf().join(" ")}]`;

    /** Shows as many entries of a directory as its share allows. */
    function share(branch: Branch, directories: number): void {
      const max = Math.floor(entriesLeft / directories);
      let chars = Math.floor(charsLeft / directories);
      for (const entry of branch.entries.slice(0, max)) {
        const cost = costOf(entry, branch.depth + 1);
        chars -= cost;
        if (chars < 0) break;
        charsLeft -= cost;
        branch.count += 1;
      }
      entriesLeft -= branch.count;
    }

    function read(path: string, depth: number, outer: IgnoreRules | undefined): Branch {
      const branch = { path, depth, ignore: outer, entries: [], count: 0, branches: new Map() };
      // Opened from the root, component by component, so that no swapped link leads outside.
      const directories: WalkedDirectory[] = [];
      try {
        let at = root;
        for (const name of path === "" ? [] : path.split("/")) {
          const child = at.child(name);
          if (child === "unreadable") unreadable += 1;
          if (typeof child === "string") return branch;
          directories.push(child);
          at = child;
        }
        const listing = at.entries();
        if (listing === undefined) {
          unreadable += 1;
          return branch;
        }
        const prefix = path === "" ? "" : `${path}/`;
        const ignore = outer?.enter(at, listing, prefix);
        const entries = listing.filter(({ name, type }) => {
          const isDirectory = type === "directory";
          const isHidden = name === ".git" || ignore?.hides(prefix + name, isDirectory) === true;
          if (isHidden) hidden += 1;
          return !isHidden && !exclude.hides(prefix + name, name, isDirectory);
        });
        return { ...branch, ignore, entries };
      } finally {
        for (const directory of directories) directory.close();
      }
    }

    function factsOf(): string[] {
      const count = max_entries - entriesLeft;
      const limits = `max_depth ${max_depth}, max_entries ${digits(max_entries)}`;
      const isPart = isCut(trunk, max_depth);
      const isFull = isPart && entriesLeft > 0;
      const facts = [
        `${counted(count, "entry", "entries")} shown (${limits}).`,
        deeper > 0 && "Deeper levels: raise max_depth or ask for a subdirectory.",
        isFull && "The response is full: ask for a subdirectory, or page with list_directory.",
        isPart &&
          !isFull &&
          "More entries: raise max_entries, ask for a subdirectory, or page with list_directory.",
        hidden > 0 &&
          !include_ignored &&
          `${digits(hidden)} hidden by ignore rules or .git; include_ignored=true shows the ignored ones.`,
        unreadable > 0 && `${digits(unreadable)} directories could not be read.`,
      ];
      return facts.filter((fact) => fact !== false);
    }
  });
}

const shownDirectories = ({ entries, count }: Branch) =>
  entries.slice(0, count).filter(({ type }) => type === "directory");

/** Whether some entries of a branch above `maxDepth` are not shown. */
function isCut({ entries, count, depth, branches }: Branch, maxDepth: number): boolean {
  if (depth >= maxDepth) return false;
  return count < entries.length || [...branches.values()].some((branch) => isCut(branch, maxDepth));
}

function draw({ entries, count, branches }: Branch, depth: number): string {
  const lines = entries.slice(0, count).map((entry) => {
    const child = branches.get(entry.name);
    return lineOf(entry, depth) + (child === undefined ? "" : draw(child, depth + 1));
  });
  const more = entries.length - count;
  return lines.join("") + (more > 0 ? moreLine(more, depth) : "");
}

function lineOf({ name, type }: Entry, depth: number): string {
  const mark = type === "directory" ? "/" : type === "link" ? "@" : type === "other" ? "=" : "";
  return `${"  ".repeat(depth)}${plainName(name)}${mark}\n`;
}

/** Reserves space for a directory's line about omitted entries. */
function costOf(entry: Entry, depth: number): number {
  const line = lineOf(entry, depth).length;
  return entry.type === "directory" ? line + moreLine(1_000_000, depth + 1).length : line;
}

function moreLine(more: number, depth: number): string {
  return `${"  ".repeat(depth)}+${digits(more)} more\n`;
}

/** Quotes a name with control characters, leading or trailing spaces, or the marks of our own lines. */
function plainName(name: string): string {
  const line = oneLine(name);
  return line !== name || /^[\s"+[]|[\s@=/]$/.test(name)
    ? `"${line.replaceAll('"', '\\"')}"`
    : name;
}
