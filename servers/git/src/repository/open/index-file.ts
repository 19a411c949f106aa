import { readFile } from "node:fs/promises";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import type { GitResult } from "../run/run-git.ts";
import { pathText, records } from "../run/text.ts";

const GITLINK = 0o160000;
/** Extensions that move the entries to another file, or to another part of this one. */
const INDIRECT = ["link", "IEOT"].map((name) => Buffer.from(name));
/** Paths that git never adds to an index, but would follow out of the working tree or into the git directory. */
const LEADS_OUT =
  process.platform === "win32"
    ? /^[/\\]|^[a-z]:|(^|[/\\])(\.\.?|\.git)([/\\]|$)/i
    : /^\/|(^|[/\\])(\.\.?|\.git)([/\\]|$)/i;

/** The path has one character for each byte. */
type Entry = readonly [mode: number, path: string];

/**
 * Checks the paths in an index, which may have come with the repository: git reads and writes the files that they name.
 *
 * @param file the index
 * @param oidBytes 20, or 32 with SHA-256
 * @param list asks git for the entries (`ls-files --stage -z`) if the file has another format
 * @returns the paths of its submodules
 * @throws ToolError `denied`, code `corrupt_index`
 */
export async function submodulesInIndex(
  file: string,
  oidBytes: number,
  list: () => Promise<GitResult>,
): Promise<string[]> {
  const bytes = await readFile(file).catch(() => undefined);
  if (bytes === undefined) return [];
  const entries = plainEntries(bytes, oidBytes) ?? listedEntries((await list()).stdout);
  const submodules: string[] = [];
  for (const [mode, path] of entries) {
    if (LEADS_OUT.test(path)) throw leadsOut(Buffer.from(path, "latin1"));
    if (mode === GITLINK) submodules.push(Buffer.from(path, "latin1").toString("utf8"));
  }
  return submodules;
}

/** The entries in versions 2 and 3 of gitformat-index(5); undefined for anything else. */
function plainEntries(bytes: Buffer, oidBytes: number): Entry[] | undefined {
  if (bytes.length < 12 || INDIRECT.some((name) => bytes.includes(name))) return undefined;
  const [version, count] = [bytes.readUInt32BE(4), bytes.readUInt32BE(8)];
  if (version !== 2 && version !== 3) return undefined;
  const entries: Entry[] = [];
  for (let start = 12; entries.length < count; ) {
    const flags = start + 40 + oidBytes;
    if (flags + 4 > bytes.length) return undefined;
    const path = flags + ((bytes.readUInt8(flags) & 0x40) === 0 ? 2 : 4);
    const end = bytes.indexOf(0, path);
    if (end === -1) return undefined;
    entries.push([bytes.readUInt32BE(start + 24), bytes.toString("latin1", path, end)]);
    // Padded with at least one NUL to a multiple of eight bytes.
    start += (end - start + 8) & ~7;
  }
  return entries;
}

/** The entries from `git ls-files --stage -z`: mode, id, stage, a tab, the path. */
function listedEntries(output: Buffer): Entry[] {
  return records(output).map((record) => [
    Number.parseInt(record.toString("latin1", 0, 6), 8),
    record.toString("latin1", record.indexOf(9) + 1),
  ]);
}

function leadsOut(path: Buffer): ToolError {
  return new ToolError(
    "denied",
    `The repository's index contains "${oneLine(pathText(path))}", which is not a path inside the working tree.`,
    {
      code: "corrupt_index",
      hint: "git never writes such an index. The user can remove .git/index and run git reset, or clone the repository again.",
    },
  );
}
