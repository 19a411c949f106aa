import type { PathGuard } from "@refmcp/boundary";
import { grouped, oneLine } from "@refmcp/boundary/answer";
import { compileExclusion, type Exclusion } from "../glob/glob.ts";
import { IgnoreScope } from "../glob/ignore-scope.ts";
import { counted } from "../messages.ts";
import { withDirectory } from "../open-path.ts";
import { type Entry, type WalkedDirectory, walkedDirectory } from "./open-below.ts";
import { TimeSlices } from "./walk.ts";

export interface TreeRequest {
  readonly path: string;
  readonly maxDepth: number;
  readonly maxEntries: number;
  readonly exclude: readonly string[];
  readonly includeIgnored: boolean;
  readonly budget: number;
  readonly signal?: AbortSignal;
}

interface Branch {
  readonly path: string;
  readonly depth: number;
  readonly ignore: IgnoreScope | undefined;
  /** Its entries that may be shown; none if it was not, or cannot be, read. */
  readonly entries: readonly Entry[];
  shown: number;
  readonly branches: Map<string, Branch>;
}

/** The maximum characters of the lines around the entries. */
const FRAME = 1_000;

/**
 * Shows the directory at `path` as indented text: directories end in `/`, links in `@`, and `+N more` counts the
 * entries of a directory that are not shown. A line of facts in square brackets follows. A name that could be mistaken
 * for one of our lines or marks is quoted and escaped.
 *
 * Upper levels are filled before lower ones, and each directory of a level gets a fair share of `maxEntries`. Only
 * shown directories are read, so the size of the whole tree does not matter.
 *
 * @param ignored patterns of the `--ignore` option.
 */
export async function drawTree(
  guard: PathGuard,
  request: TreeRequest,
  ignored: readonly string[],
): Promise<string> {
  const exclude = compileExclusion(request.exclude);
  return withDirectory(guard, request.path, async (root) => {
    const ignore = request.includeIgnored ? undefined : await IgnoreScope.above(guard, root, ignored);
    const tree = new Tree(request, exclude, await walkedDirectory(guard, root));
    const trunk = await tree.grow(ignore);
    await root.verify();
    return `${oneLine(root.path)}/\n${draw(trunk, 1)}[${tree.facts().join(" ")}]`;
  });
}

class Tree {
  readonly #request: TreeRequest;
  readonly #exclude: Exclusion;
  readonly #root: WalkedDirectory;
  #entriesLeft: number;
  #charsLeft: number;
  #shown = 0;
  #hidden = 0;
  #unreadable = 0;
  readonly #cut = { depth: false, entries: false, chars: false };

  constructor(request: TreeRequest, exclude: Exclusion, root: WalkedDirectory) {
    this.#request = request;
    this.#exclude = exclude;
    this.#root = root;
    this.#entriesLeft = request.maxEntries;
    this.#charsLeft = request.budget - FRAME - root.realPath.length;
  }

  async grow(ignore: IgnoreScope | undefined): Promise<Branch> {
    const slices = new TimeSlices(this.#request.signal);
    const trunk = this.#read("", 0, ignore);
    for (let level = [trunk]; level.length > 0; ) {
      this.#share(level);
      level = await this.#nextLevel(level, slices);
    }
    return trunk;
  }

  /**
   * Divides the remaining entries among the directories of a level: small ones are shown completely, large ones get
   * equal shares.
   */
  #share(level: readonly Branch[]): void {
    const bySize = level.toSorted((a, b) => a.entries.length - b.entries.length);
    for (const [index, branch] of bySize.entries()) {
      const { entries, depth } = branch;
      const left = bySize.length - index;
      const max = Math.min(entries.length, Math.floor(this.#entriesLeft / left));
      const chars = Math.floor(this.#charsLeft / left);
      let used = 0;
      for (const entry of entries.slice(0, max)) {
        const cost = costOf(entry, depth + 1);
        if (used + cost > chars) {
          this.#cut.chars = true;
          break;
        }
        used += cost;
        branch.shown += 1;
      }
      if (max < entries.length) this.#cut.entries = true;
      this.#entriesLeft -= branch.shown;
      this.#charsLeft -= used;
      this.#shown += branch.shown;
    }
  }

  async #nextLevel(level: readonly Branch[], slices: TimeSlices): Promise<Branch[]> {
    const next: Branch[] = [];
    for (const branch of level) {
      for (const { name, type } of branch.entries.slice(0, branch.shown)) {
        if (type !== "directory") continue;
        if (slices.due()) await slices.rest();
        const path = branch.path === "" ? name : `${branch.path}/${name}`;
        if (this.#exclude.hidesContents(path)) continue;
        const child = this.#read(path, branch.depth + 1, branch.ignore);
        branch.branches.set(name, child);
        if (child.depth < this.#request.maxDepth) next.push(child);
        else if (child.entries.length > 0) this.#cut.depth = true;
      }
    }
    return next;
  }

  #read(path: string, depth: number, outer: IgnoreScope | undefined): Branch {
    const branch = { path, depth, ignore: outer, entries: [], shown: 0, branches: new Map() };
    // Opened from the root, component by component, so that no swapped link leads outside.
    const opened: WalkedDirectory[] = [];
    try {
      let directory = this.#root;
      for (const name of path === "" ? [] : path.split("/")) {
        const child = directory.child(name);
        if (child === "unreadable") this.#unreadable += 1;
        if (typeof child === "string") return branch;
        opened.push(child);
        directory = child;
      }
      const all = directory.entries();
      if (all === undefined) {
        this.#unreadable += 1;
        return branch;
      }
      const prefix = path === "" ? "" : `${path}/`;
      const ignore = outer?.enter(directory, all, prefix);
      const entries = all.filter(({ name, type }) => {
        const isDirectory = type === "directory";
        const isHidden = name === ".git" || ignore?.hides(prefix + name, name, isDirectory) === true;
        if (isHidden) this.#hidden += 1;
        return !isHidden && !this.#exclude.hides(prefix + name, name, isDirectory);
      });
      return { ...branch, ignore, entries };
    } finally {
      for (const one of opened) one.close();
    }
  }

  facts(): string[] {
    const { maxDepth, maxEntries, includeIgnored } = this.#request;
    const { depth, chars, entries } = this.#cut;
    const limits = `max_depth ${maxDepth}, max_entries ${grouped(maxEntries)}`;
    const facts = [`${counted(this.#shown, "entry", "entries")} shown (${limits}).`];
    if (depth) facts.push("Deeper levels: raise max_depth or ask for a subdirectory.");
    if (chars) facts.push("The response is full: ask for a subdirectory, or page with list_directory.");
    else if (entries)
      facts.push("More entries: raise max_entries, ask for a subdirectory, or page with list_directory.");
    if (this.#hidden > 0 && !includeIgnored) {
      const hidden = `${grouped(this.#hidden)} hidden by ignore rules or .git`;
      facts.push(`${hidden}; include_ignored=true shows the ignored ones.`);
    }
    if (this.#unreadable > 0) facts.push(`${grouped(this.#unreadable)} directories could not be read.`);
    return facts;
  }
}

function draw({ entries, shown, branches }: Branch, depth: number): string {
  let text = "";
  for (const entry of entries.slice(0, shown)) {
    const child = branches.get(entry.name);
    text += lineOf(entry, depth) + (child === undefined ? "" : draw(child, depth + 1));
  }
  const more = entries.length - shown;
  return more > 0 ? text + moreLine(more, depth) : text;
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
  return `${"  ".repeat(depth)}+${grouped(more)} more\n`;
}

/** Quotes a name with control characters, leading or trailing spaces, or the marks of our own lines. */
function plainName(name: string): string {
  const line = oneLine(name);
  return line !== name || /^[\s"+[]|[\s@=/]$/.test(name) ? `"${line.replaceAll('"', '\\"')}"` : name;
}
