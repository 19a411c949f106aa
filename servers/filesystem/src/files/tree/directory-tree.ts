import type { PathGuard } from "@refmcp/boundary";
import { grouped, oneLine } from "@refmcp/boundary/answer";
import { compileExclusion, type Exclusion } from "../glob/glob.ts";
import { IgnoreScope } from "../glob/ignore-scope.ts";
import { withDirectory } from "../open-path.ts";
import { counted } from "../wording.ts";
import { type Entry, type WalkedDirectory, walkedDirectory } from "./open-below.ts";
import { TimeSlices } from "./time-slices.ts";

export interface TreeRequest {
  readonly path: string;
  readonly maxDepth: number;
  readonly maxEntries: number;
  readonly exclude: readonly string[];
  readonly includeIgnored: boolean;
  /** Maximum characters of the answer. */
  readonly budget: number;
  readonly signal?: AbortSignal;
}

/** A directory of the tree. */
interface Branch {
  readonly path: string;
  readonly depth: number;
  readonly ignore: IgnoreScope | undefined;
  /** Its entries that may be shown; undefined if it was not, or cannot be, read. */
  entries: readonly Entry[] | undefined;
  /** The number of shown entries. */
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
 * @param extraIgnored patterns of the `--ignore` option.
 */
export async function drawTree(
  guard: PathGuard,
  request: TreeRequest,
  extraIgnored: readonly string[],
): Promise<string> {
  const exclude = compileExclusion(request.exclude);
  return withDirectory(guard, request.path, async (root) => {
    const ignore = request.includeIgnored ? undefined : await IgnoreScope.above(guard, root, extraIgnored);
    const grown = await grow(request, exclude, await walkedDirectory(guard, root), ignore);
    await root.verify();
    return `${oneLine(root.path)}/\n${draw(grown.trunk, 1)}${factsOn(request, grown)}`;
  });
}

/** The shown tree, and what was omitted. */
interface Grown {
  readonly trunk: Branch;
  readonly shown: number;
  readonly hidden: number;
  readonly unreadable: number;
  /** What truncated the tree. */
  readonly cut: { readonly depth: boolean; readonly entries: boolean; readonly chars: boolean };
}

async function grow(
  request: TreeRequest,
  exclude: Exclusion,
  root: WalkedDirectory,
  rootIgnore: IgnoreScope | undefined,
): Promise<Grown> {
  const slices = new TimeSlices(request.signal);
  let entriesLeft = request.maxEntries;
  let charsLeft = request.budget - FRAME - root.realPath.length;
  let shown = 0;
  let hidden = 0;
  let unreadable = 0;
  const cut = { depth: false, entries: false, chars: false };

  /**
   * Divides the remaining entries among the directories of a level: small ones are shown completely, large ones get
   * equal shares.
   */
  function share(level: readonly Branch[]): void {
    const bySize = [...level].sort((a, b) => (a.entries?.length ?? 0) - (b.entries?.length ?? 0));
    let left = bySize.length;
    for (const branch of bySize) {
      const entries = branch.entries ?? [];
      const share = Math.floor(entriesLeft / left);
      const chars = Math.floor(charsLeft / left);
      const max = Math.min(entries.length, share);
      let used = 0;
      while (branch.shown < max) {
        const entry = entries[branch.shown];
        const cost = entry === undefined ? 0 : costOf(entry, branch.depth + 1);
        if (used + cost > chars) {
          cut.chars = true;
          break;
        }
        used += cost;
        branch.shown += 1;
      }
      if (max < entries.length) cut.entries = true;
      entriesLeft -= branch.shown;
      charsLeft -= used;
      shown += branch.shown;
      left -= 1;
    }
  }

  async function nextLevel(level: readonly Branch[]): Promise<Branch[]> {
    const next: Branch[] = [];
    for (const branch of level) {
      for (const { name, type } of branch.entries?.slice(0, branch.shown) ?? []) {
        if (type !== "directory") continue;
        if (slices.due()) await slices.rest();
        const path = branch.path === "" ? name : `${branch.path}/${name}`;
        if (exclude.hidesContents(path)) continue;
        const child = read(path, branch.depth + 1, branch.ignore);
        branch.branches.set(name, child);
        if (child.depth < request.maxDepth) next.push(child);
        else if ((child.entries?.length ?? 0) > 0) cut.depth = true;
      }
    }
    return next;
  }

  function read(path: string, depth: number, outer: IgnoreScope | undefined): Branch {
    const opened = open(path);
    const branch: Branch = { path, depth, ignore: outer, entries: undefined, shown: 0, branches: new Map() };
    if (opened === undefined) return branch;
    const { directory, close } = opened;
    try {
      const all = directory.entries();
      if (all === undefined) {
        unreadable += 1;
        return branch;
      }
      const prefix = path === "" ? "" : `${path}/`;
      const ignore = outer?.enter(directory, all, prefix);
      const entries = all.filter(({ name, type }) => {
        const isDirectory = type === "directory";
        const isHidden = name === ".git" || ignore?.hides(prefix + name, name, isDirectory) === true;
        if (isHidden) hidden += 1;
        return !isHidden && !exclude.hides(prefix + name, name, isDirectory);
      });
      return { ...branch, ignore, entries };
    } finally {
      close();
    }
  }

  /** Opens a directory from the root, component by component, so that no swapped link leads outside. */
  function open(path: string): { directory: WalkedDirectory; close(): void } | undefined {
    let directory = root;
    const opened: WalkedDirectory[] = [];
    const close = () => {
      for (const one of opened) one.close();
    };
    for (const name of path === "" ? [] : path.split("/")) {
      const child = directory.child(name);
      if (typeof child === "string") {
        if (child === "unreadable") unreadable += 1;
        close();
        return undefined;
      }
      opened.push(child);
      directory = child;
    }
    return { directory, close };
  }

  const trunk = read("", 0, rootIgnore);
  for (let level = [trunk]; level.length > 0; ) {
    share(level);
    level = await nextLevel(level);
  }
  return { trunk, shown, hidden, unreadable, cut };
}

function draw(branch: Branch, depth: number): string {
  let text = "";
  const entries = branch.entries ?? [];
  for (const entry of entries.slice(0, branch.shown)) {
    text += lineOf(entry, depth);
    const child = branch.branches.get(entry.name);
    if (child !== undefined) text += draw(child, depth + 1);
  }
  const more = entries.length - branch.shown;
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

function factsOn(
  { maxDepth, maxEntries, includeIgnored }: TreeRequest,
  { shown, hidden, unreadable, cut }: Grown,
): string {
  const facts = [
    `${counted(shown, "entry", "entries")} shown (max_depth ${maxDepth}, max_entries ${grouped(maxEntries)}).`,
  ];
  if (cut.depth) facts.push("Deeper levels: raise max_depth or ask for a subdirectory.");
  if (cut.chars) facts.push("The response is full: ask for a subdirectory, or page with list_directory.");
  else if (cut.entries)
    facts.push("More entries: raise max_entries, ask for a subdirectory, or page with list_directory.");
  if (hidden > 0 && !includeIgnored) {
    facts.push(
      `${grouped(hidden)} hidden by ignore rules or .git; include_ignored=true shows the ignored ones.`,
    );
  }
  if (unreadable > 0) facts.push(`${grouped(unreadable)} directories could not be read.`);
  return `[${facts.join(" ")}]`;
}
