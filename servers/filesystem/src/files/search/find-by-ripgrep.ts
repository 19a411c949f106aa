import { isUtf8 } from "node:buffer";
import { spawn } from "node:child_process";
import { lstatSync, type Stats } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, posix, sep } from "node:path";
import { ToolError } from "@refmcp/core/answer";
import type { GuardedDirectory } from "@refmcp/core/boundary";
import { mountsBelow } from "../tree/mounts.ts";
import { TimeSlices } from "../tree/time-slices.ts";
import { countAgain } from "./find-by-workers.ts";
import type { Locate, Located, LocateRequest } from "./find-files.ts";
import { ripgrepEnvironment } from "./ripgrep-program.ts";
import type { ScanPool } from "./scan-pool.ts";

/** How far the clocks of the system and of its file systems may differ, in milliseconds. */
const CLOCK_MS = 1_000;
/** How many found files wait for being verified together. */
const BATCH = 20_000;

/**
 * Finds matching files with ripgrep.
 *
 * ripgrep goes by paths, so a link that is swapped in at the right moment leads it out of the tree. What it counted
 * stands only where no directory on the way to the file changed since the search began; other files are counted
 * again by us.
 *
 * @param instead what does the search where ripgrep cannot: it takes no notice of mounted special file systems, and
 * a version may refuse an expression.
 */
export function locateByRipgrep(program: string, pool: ScanPool, instead: Locate): Locate {
  return async (request, found) => {
    if ((await mountsBelow(request.root.realPath)).length > 0) return instead(request, found);
    const begun = Date.now() - CLOCK_MS;
    const rules = request.ignore?.outerText ?? "";
    const folder = rules === "" ? undefined : await mkdtemp(join(tmpdir(), "refmcp-rules-"));
    try {
      const file = folder === undefined ? undefined : join(folder, "ignore");
      if (file !== undefined) await writeFile(file, rules, { mode: 0o600 });
      const understood = await search(program, ripgrepArguments(request, file), request, async (batch) => {
        const doubtful: string[] = [];
        const isDoubtful = changesSince(request.root, begun);
        const slices = new TimeSlices(request.signal);
        for (const located of batch) {
          if (slices.due()) await slices.rest();
          if (isDoubtful(posix.dirname(located.path))) doubtful.push(located.path);
          else found(located);
        }
        await countAgain(pool, request, doubtful, found);
      });
      if (!understood) await instead(request, found);
    } finally {
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    }
  };
}

function ripgrepArguments({ pattern, ignore, globText }: LocateRequest, rules: string | undefined): string[] {
  const name = nameGlob(globText);
  return [
    "--no-config",
    "--no-messages",
    "--color=never",
    "--no-follow",
    "--hidden",
    "--glob=!.git",
    "--count",
    "--with-filename",
    "--null",
    pattern.ignoreCase ? "--ignore-case" : "--case-sensitive",
    ...(ignore === undefined
      ? ["--no-ignore"]
      : ["--no-ignore-global", "--no-ignore-exclude", "--no-ignore-parent", "--no-require-git"]),
    ...(rules === undefined ? [] : ["--ignore-file", rules]),
    // A type, not a glob: a glob would bring back files that are ignored.
    ...(name === undefined ? [] : [`--type-add=wanted:${name}`, "--type=wanted"]),
    "-e",
    pattern.regex.rust,
    "--",
    "./",
  ];
}

/** A glob about names that every name matches which the whole glob matches, where that can be told easily. */
function nameGlob(glob: string | undefined): string | undefined {
  const last = glob?.slice(glob.lastIndexOf("/") + 1);
  return last !== undefined && /^[\w.*-]+$/.test(last) && !last.includes("**") && /\w/.test(last)
    ? last
    : undefined;
}

/** @returns false where ripgrep refused to search at all. */
async function search(
  program: string,
  args: readonly string[],
  { root, glob, signal }: LocateRequest,
  take: (batch: readonly Located[]) => Promise<void>,
): Promise<boolean> {
  signal.throwIfAborted();
  const child = spawn(program, args, {
    // On Linux the opened directory itself, whatever its path leads to by now.
    cwd: root.entry(""),
    env: ripgrepEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
    windowsHide: true,
  });
  const closed = new Promise<number | null>((resolve) => {
    child.on("error", () => undefined);
    child.on("close", resolve);
  });
  const kill = () => child.kill("SIGKILL");
  signal.addEventListener("abort", kill);
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(0, 1_000);
  });
  let any = false;
  let batch: Located[] = [];
  const parser = new CountParser((path, lines) => {
    any = true;
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (glob === undefined || glob.matches(path, name, false)) batch.push({ path, lines });
  });
  try {
    for await (const chunk of child.stdout) {
      parser.add(chunk);
      if (batch.length < BATCH) continue;
      await take(batch);
      batch = [];
    }
    const code = await closed;
    signal.throwIfAborted();
    await take(batch);
    if (code === 0 || code === 1) return true;
    if (code !== 2 && any) throw endedEarly();
    // 2 says that something failed: all of it where it complains although messages about files are off.
    return any || (code === 2 && complaint === "");
  } finally {
    signal.removeEventListener("abort", kill);
    kill();
    await closed;
  }
}

function endedEarly(): ToolError {
  return new ToolError("unavailable", "ripgrep was ended by the system in the middle of the search.", {
    hint: "Retry, or search fewer files with path and glob.",
  });
}

const NUL = 0;
const LINE_FEED = 10;

/** Reads `path NUL count LF`, of which a path may hold line feeds. */
class CountParser {
  readonly #take: (path: string, lines: number) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(take: (path: string, lines: number) => void) {
    this.#take = take;
  }

  add(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (true) {
      const nul = bytes.indexOf(NUL, at);
      const end = nul < 0 ? -1 : bytes.indexOf(LINE_FEED, nul);
      if (end < 0) break;
      this.#one(bytes.subarray(at, nul), Number(bytes.toString("latin1", nul + 1, end)));
      at = end + 1;
    }
    this.#rest = bytes.subarray(at);
  }

  #one(path: Buffer, lines: number): void {
    // A name that is not UTF-8 cannot be opened by what we would call it.
    if (!isUtf8(path)) return;
    const text = path.toString("utf8");
    this.#take((sep === "/" ? text : text.replaceAll(sep, "/")).replace(/^\.\//, ""), lines);
  }
}

/** Tells of a directory below the root whether it, or one on the way to it, had an entry changed since `begun`. */
function changesSince(root: GuardedDirectory, begun: number): (directory: string) => boolean {
  const known = new Map<string, boolean>();
  const hasChanged = (directory: string): boolean => {
    const before = known.get(directory);
    if (before !== undefined) return before;
    const above = directory !== "." && hasChanged(posix.dirname(directory));
    const stat = above
      ? undefined
      : statOf(directory === "." ? root.entry("") : root.entry("") + sep + directory);
    const changed = stat === undefined || !stat.isDirectory() || stat.ctimeMs >= begun;
    known.set(directory, changed);
    return changed;
  };
  return hasChanged;
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
