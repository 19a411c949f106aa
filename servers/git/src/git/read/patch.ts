import { createHash } from "node:crypto";
import { pathText, unquotePath } from "../run/text.ts";

/** Consecutive removed and added lines; a hunk has one or more of these. */
export interface Change {
  /** 7 hexadecimal digits: two of the path, five of the path and the lines. */
  readonly id: string;
  /** Indexes in `lines` of its hunk: the first line, and the one after the last. */
  readonly start: number;
  readonly end: number;
}

/** A hunk of a patch, with its lines as git prints them, each with its line break. */
export interface Hunk {
  readonly header: Buffer;
  readonly lines: readonly Buffer[];
  /** Empty if the file has no ids: a submodule, or one with conflicts. */
  readonly changes: readonly Change[];
  /** Of the file, from its line `diff --git` on. */
  readonly fileHeader: readonly Buffer[];
  readonly path: string;
}

/** What receives the parts of a patch in order. */
interface PatchSink {
  /** A line outside hunks. */
  line(line: Buffer): void;
  hunk(hunk: Hunk): void;
}

/** A file with more changed parts than this gets no more ids: there are 2^20 in all. */
const MAX_CHANGES = 100_000;

/**
 * Reads a patch as git prints it, one hunk at a time; the counts in the hunks' headers show what is
 * content. Ids of changes don't depend on the lines of context, if there are any: without context git
 * compares in another way.
 */
export class PatchReader {
  readonly #sink: PatchSink;
  /** The part of a line that has arrived. */
  #pending: Buffer[] = [];
  #fileHeader: Buffer[] = [];
  #ids = new ChangeIds("");
  #hunk: { header: Buffer; lines: Buffer[]; path: string } | undefined;
  /** Lines that the current hunk still has of both sides. */
  #left = { old: 0, new: 0 };

  constructor(sink: PatchSink) {
    this.#sink = sink;
  }

  add(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const rest = chunk.subarray(start, end + 1);
      this.#line(this.#pending.length === 0 ? rest : Buffer.concat([...this.#pending, rest]));
      this.#pending = [];
      start = end + 1;
    }
    if (start < chunk.length) this.#pending.push(chunk.subarray(start));
  }

  /** Reads what is left after the last line break. */
  end(): void {
    if (this.#pending.length > 0) this.#line(Buffer.concat(this.#pending));
    this.#pending = [];
    this.#flush();
  }

  #line(line: Buffer): void {
    const kind = String.fromCharCode(line[0] ?? 0);
    const isInHunk = this.#left.old > 0 || this.#left.new > 0;
    if (this.#hunk !== undefined && (kind === "\\" || (isInHunk && " -+\n".includes(kind)))) {
      this.#hunk.lines.push(line);
      if (kind === "\\") return;
      if (kind !== "+") this.#left.old--;
      if (kind !== "-") this.#left.new--;
      return;
    }
    this.#flush();
    const lines = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line.toString("latin1", 0, 100));
    if (lines === null) {
      if (line.toString("latin1", 0, 7) === "diff --") this.#fileHeader = [];
      this.#fileHeader.push(line);
      this.#sink.line(line);
      return;
    }
    this.#left = { old: Number(lines[1] ?? 1), new: Number(lines[2] ?? 1) };
    const path = pathOf(this.#fileHeader);
    if (path !== this.#ids.path) this.#ids = new ChangeIds(path);
    this.#hunk = { header: line, lines: [], path };
  }

  #flush(): void {
    if (this.#hunk === undefined) return;
    const { path, lines } = this.#hunk;
    const changes = path === "" ? [] : this.#ids.changesIn(lines);
    this.#sink.hunk({ ...this.#hunk, changes, fileHeader: this.#fileHeader });
    this.#hunk = undefined;
    this.#left = { old: 0, new: 0 };
  }
}

/** The path of a file with ids, by its header; empty for others. */
function pathOf(header: readonly Buffer[]): string {
  const lines = header.map((line) => line.toString("latin1").trimEnd());
  const value = (name: string) => lines.find((line) => line.startsWith(name))?.slice(name.length);
  const isSubmodule = lines.some((line) => /^(index|new file|deleted file).* 160000$/.test(line));
  if (!lines[0]?.startsWith("diff --git ") || isSubmodule) return "";
  const target = value("+++ ") ?? "";
  const name = target === "/dev/null" ? (value("--- ") ?? "") : target;
  // In quotes, or with a tab after it if it contains spaces.
  const bytes = name.startsWith('"')
    ? unquotePath(name)
    : Buffer.from(name.replace(/\t$/, ""), "latin1");
  return pathText(bytes.subarray(2));
}

/** Makes the ids of one file. Changes with the same lines are counted. */
class ChangeIds {
  readonly path: string;
  readonly #prefix: string;
  readonly #used = new Set<string>();
  readonly #counts = new Map<string, number>();

  constructor(path: string) {
    this.path = path;
    this.#prefix = digest([path]).slice(0, 2);
  }

  changesIn(lines: readonly Buffer[]): Change[] {
    const isChanged = (line: Buffer | undefined) => line?.[0] === 43 || line?.[0] === 45;
    const isUnended = (line: Buffer | undefined) => line?.[0] === 92;
    const changes: Change[] = [];
    for (let start = 0, end = 0; start < lines.length; start = end) {
      end = start + 1;
      if (!isChanged(lines[start])) continue;
      while (isChanged(lines[end]) || isUnended(lines[end])) end++;
      if (this.#used.size >= MAX_CHANGES) break;
      changes.push({ id: this.#idOf(lines.slice(start, end)), start, end });
    }
    return changes;
  }

  #idOf(lines: readonly Buffer[]): string {
    const key = digest(lines);
    for (let count = this.#counts.get(key) ?? 0; ; count++) {
      const id = this.#prefix + digest([`${this.path}\0${count}\0${key}`]).slice(0, 5);
      if (this.#used.has(id)) continue;
      this.#used.add(id);
      this.#counts.set(key, count + 1);
      return id;
    }
  }
}

function digest(parts: readonly (string | Buffer)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}
