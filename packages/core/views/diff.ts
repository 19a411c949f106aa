// Diffs for people: a list of the files, and a box for each with line numbers, colors, and the changed part of each line marked.
import { parsePatch, type StructuredPatch } from "diff";
import { button, copyButton, fullscreenButton, toggle, workButton } from "./controls.ts";
import { element, type Host, type ToolResult, textOf } from "./host.ts";

/** The key in the `_meta` of a text block with a diff. */
const DIFF_META = "io.github.refmcp/diff";

/** Where the patch is in the text of the block, and what the server says about it. */
interface DiffMeta {
  readonly begin: number;
  readonly end: number;
  /** All files of the diff, if this is the first page of several. */
  readonly files?: readonly {
    readonly path: string;
    readonly from?: string;
    readonly added?: number;
    readonly deleted?: number;
  }[];
  readonly remark: string;
  readonly cursor?: string;
}

/** Lines of the files that are open at first. */
const MAX_OPEN = 60;
/** A file of a page that begins within a hunk has no line with its place. */
const WITHOUT_PLACE = /^(\+\+\+ .*\n)(?=[ +-])/gm;
const HUNK = /^@@ -(\d+)\S* \+(\d+)\S* @@.*\n((?:[ +\-\\].*\n?)*)/gm;

/**
 * A diff with a toolbar.
 *
 * @param load calls the tool for the page at a cursor; undefined if the answer is never cut
 * @param actions additional buttons
 * @throws Error with the text of an answer that has no diff
 */
export function diffPage(
  host: Host,
  first: ToolResult,
  load: ((cursor: string) => Promise<ToolResult>) | undefined,
  ...actions: readonly HTMLElement[]
): HTMLElement {
  const status = element("p", { class: "facts", role: "status" });
  const names = element("ul", { class: "files" });
  const list = element("nav", { "aria-label": "Files" }, names);
  const boxes = element("div");
  const wrap = toggle("Wrap lines", (on) => boxes.classList.toggle("wrapped", on));
  const loaded = new Map<string, HTMLDetailsElement>();
  const entries = new Map<string, HTMLElement>();
  let cursor: string | undefined;
  let lines = 0;

  const addEntry = (name: string, added: number, removed: number) => {
    const link = button(name);
    const entry = element("li", { class: "pending" }, link, ...countsOf(added, removed));
    link.addEventListener("click", () => {
      const box = loaded.get(name);
      if (box === undefined) return void more.click();
      box.open = true;
      box.scrollIntoView({ block: "start" });
      box.querySelector("summary")?.focus({ preventScroll: true });
    });
    entries.set(name, entry);
    names.append(entry);
  };
  const add = (result: ToolResult) => {
    const { patch, files = [], remark, cursor: next } = diffIn(result);
    for (const { path, from, added = 0, deleted = 0 } of files)
      addEntry(from === undefined ? path : `${from} → ${path}`, added, deleted);
    for (const file of parsePatch(whole(patch))) {
      const name = nameOf(file);
      const { added, removed } = countsIn(file);
      if (!entries.has(name)) addEntry(name, added, removed);
      entries.get(name)?.classList.remove("pending");
      const earlier = loaded.get(name);
      const rows = rowsOf(file);
      if (earlier !== undefined) {
        earlier.querySelector("tbody")?.append(...rows);
        continue;
      }
      const box = boxOf(name, file, rows);
      box.open = loaded.size === 0 || lines + rows.length <= MAX_OPEN;
      lines += rows.length;
      loaded.set(name, box);
      boxes.append(box);
    }
    cursor = next;
    more.hidden = cursor === undefined;
    list.hidden = entries.size < 2;
    const rest = entries.size > loaded.size ? `${loaded.size} of ${entries.size} files loaded` : "";
    status.textContent = [remark, rest].filter(Boolean).join("; ");
  };
  const more = workButton("Load more", async () => {
    try {
      if (load !== undefined && cursor !== undefined) add(await load(cursor));
    } catch (error) {
      status.textContent = (error as Error).message;
    }
  });
  add(first);
  const copy = copyButton(() => diffIn(first).patch);
  const bar = element("div", { class: "bar" }, status, wrap, copy, fullscreenButton(host));
  bar.append(...actions, more);
  return element("div", {}, bar, list, boxes);
}

/** The diff of an answer. @throws Error with the text of an answer without one */
function diffIn(result: ToolResult): DiffMeta & { readonly patch: string } {
  for (const { text = "", _meta } of result.content ?? []) {
    const meta = _meta?.[DIFF_META] as DiffMeta | undefined;
    if (meta !== undefined) return { ...meta, patch: text.slice(meta.begin, meta.end) };
  }
  throw new Error(textOf(result));
}

/** A page of git's diff may begin or end within a hunk, whose header then has the lines of the page. */
function whole(patch: string): string {
  if (!patch.startsWith("diff --git ")) return patch;
  return patch
    .replace(WITHOUT_PLACE, "$1@@ -1 +1 @@\n")
    .replace(HUNK, (_hunk, before: string, after: string, lines: string) => {
      const count = (sign: RegExp) => lines.match(sign)?.length ?? 0;
      return `@@ -${before},${count(/^[ -]/gm)} +${after},${count(/^[ +]/gm)} @@\n${lines}`;
    });
}

function nameOf({ oldFileName = "", newFileName = "", isGit }: StructuredPatch): string {
  const bare = (name: string) => (isGit === true ? name.slice(2) : name);
  if (newFileName === "/dev/null") return bare(oldFileName);
  const isSame = bare(oldFileName) === bare(newFileName) || oldFileName === "/dev/null";
  return isSame ? bare(newFileName) : `${bare(oldFileName)} → ${bare(newFileName)}`;
}

function countsIn({ hunks }: StructuredPatch) {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return { added: count("+"), removed: count("-") };
}

function boxOf(name: string, file: StructuredPatch, rows: readonly HTMLElement[]) {
  const { isCreate, isDelete, isRename, isBinary } = file;
  const kind = isCreate ? "added" : isDelete ? "deleted" : isRename ? "renamed" : "";
  const words = [kind, isBinary === true ? "binary" : ""].filter(Boolean).join(", ");
  const { added, removed } = countsIn(file);
  const summary = element(
    "summary",
    {},
    element("span", { class: "title" }, name),
    ...(words === "" ? [] : [element("span", { class: "badge" }, words)]),
    ...countsOf(added, removed),
  );
  const table = element("table", {}, element("tbody", {}, ...rows));
  const region = { class: "lines", role: "region", "aria-label": name, tabindex: "0" };
  return element("details", { class: "file" }, summary, element("div", region, table));
}

const KINDS: Readonly<Record<string, string>> = { "+": "added", "-": "removed" };

function rowsOf({ hunks }: StructuredPatch): HTMLElement[] {
  return hunks.flatMap(({ oldStart, newStart, lines }, index) => {
    const pairs = pairsOf(lines);
    let [before, after] = [oldStart, newStart];
    const rows = lines.flatMap((line, at) => {
      const sign = line.slice(0, 1);
      if (sign === "\\") return [];
      const kind = KINDS[sign];
      const old = sign === "+" ? "" : String(before++);
      const now = sign === "-" ? "" : String(after++);
      const signed = { class: "sign", ...(kind === undefined ? {} : { "aria-label": kind }) };
      return element(
        "tr",
        { class: kind ?? "same" },
        element("td", { class: "place" }, old),
        element("td", { class: "place" }, now),
        element("td", signed, sign),
        element("td", { class: "code" }, ...marked(line.slice(1), pairs.get(at))),
      );
    });
    const gap = element("tr", { class: "gap" }, element("td", { colspan: "4" }, "⋯"));
    return index === 0 ? rows : [gap, ...rows];
  });
}

/** The text that a changed line replaces or is replaced by, by the line's index. */
function pairsOf(lines: readonly string[]): ReadonlyMap<number, string> {
  const pairs = new Map<number, string>();
  let removed: number[] = [];
  for (const [at, line] of lines.entries()) {
    if (line.startsWith("-")) removed.push(at);
    else if (!line.startsWith("+")) removed = [];
    else {
      const earlier = removed.shift();
      if (earlier === undefined) continue;
      pairs.set(at, lines[earlier]?.slice(1) ?? "");
      pairs.set(earlier, line.slice(1));
    }
  }
  return pairs;
}

/** A line with the part marked that differs from its pair, unless most of it does. */
function marked(text: string, pair: string | undefined): (Node | string)[] {
  if (pair === undefined) return [text];
  const most = Math.min(text.length, pair.length);
  let start = 0;
  while (start < most && text[start] === pair[start]) start += 1;
  let end = 0;
  while (end < most - start && text.at(-1 - end) === pair.at(-1 - end)) end += 1;
  const middle = text.slice(start, text.length - end);
  if (start + end < most / 3 || middle === "") return [text];
  return [text.slice(0, start), element("mark", {}, middle), text.slice(text.length - end)];
}

/** How many lines were added and removed, as elements. */
function countsOf(added: number, removed: number): HTMLElement[] {
  return [
    ...(added > 0 ? [element("span", { class: "good", title: "added lines" }, `+${added}`)] : []),
    ...(removed > 0
      ? [element("span", { class: "bad", title: "removed lines" }, `−${removed}`)]
      : []),
  ];
}
