// Diffs for people: a box for each file, with line numbers, and the changed part of each line marked.
import "./view.css";
import "./sheet.css";
import "./diff.css";
import { button, toggle } from "./controls.ts";
import { element } from "./host.ts";
import { type DiffLine, differing, sectionsOf } from "./unified.ts";

/** A page of a diff: its text, the server's remarks, and the cursor of the next page. */
export interface DiffPart {
  readonly body: string;
  readonly facts: string;
  readonly cursor: string | undefined;
}

/** Takes the cursor out of the server's remarks, with the sentence around it, which is for the model. */
export function partOf(body: string, facts: string): DiffPart {
  const next = /;? ?continue with cursor[ =]"([^"]+)"( or narrow with paths|\.)?/i.exec(facts);
  return { body, facts: next === null ? facts : facts.replace(next[0], ""), cursor: next?.[1] };
}

/**
 * A diff with a toolbar.
 *
 * @param load loads the page at a cursor; rejects with a message for the user
 * @param actions additional buttons
 */
export function diffPage(
  first: DiffPart,
  load: (cursor: string) => Promise<DiffPart>,
  ...actions: readonly HTMLElement[]
): HTMLElement {
  const facts = element("p", { class: "facts", role: "status" });
  const files = element("div");
  const more = button("Load more");
  const wrap = toggle("Wrap lines", (on) => files.classList.toggle("wrapped", on));
  let cursor: string | undefined;
  const add = (part: DiffPart) => {
    files.append(...sectionsIn(part.body));
    facts.textContent = part.facts;
    cursor = part.cursor;
    more.hidden = cursor === undefined;
    wrap.hidden = files.querySelector("table") === null;
  };
  more.addEventListener("click", () => {
    if (cursor === undefined || more.disabled) return;
    more.disabled = true;
    load(cursor)
      .then(add, (error: Error) => {
        facts.textContent = error.message;
      })
      .finally(() => {
        more.disabled = false;
      });
  });
  add(first);
  return element("div", {}, element("div", { class: "bar" }, facts, wrap, ...actions, more), files);
}

function sectionsIn(text: string): HTMLElement[] {
  return sectionsOf(text).map((section) => {
    if (section.kind === "text") return element("p", { class: "between" }, section.text);
    const count = (kind: DiffLine["kind"]) => section.lines.filter((line) => line.kind === kind).length;
    const summary = element("summary", {}, section.title);
    for (const [kind, sign] of [
      ["added", "+"],
      ["removed", "−"],
    ] as const)
      if (count(kind) > 0)
        summary.append(
          " ",
          element("span", { class: `count ${kind}`, title: `${kind} lines` }, `${sign}${count(kind)}`),
        );
    const file = element("details", { class: "file", open: "" }, summary);
    if (section.lines.length > 0) {
      const table = element("table", {}, element("tbody", {}, ...rowsOf(section.lines)));
      const label = { role: "region", "aria-label": section.title, tabindex: "0" };
      file.append(element("div", { class: "lines", ...label }, table));
    }
    return file;
  });
}

const SIGNS = { same: " ", added: "+", removed: "−" } as const;

function rowsOf(lines: readonly DiffLine[]): HTMLTableRowElement[] {
  const pairs = pairsOf(lines);
  return lines.flatMap((line, index) => {
    const { kind, before, after, text } = line;
    // The first hunk needs no gap line: its line numbers show where it begins.
    if (kind === "gap" && index === 0 && text === "") return [];
    if (kind === "gap" || kind === "remark")
      return element("tr", { class: kind }, element("td", { colspan: "4" }, text === "" ? "⋯" : text));
    const place = (number: number | undefined) => element("td", { class: "place" }, String(number ?? ""));
    const sign = element("td", kind === "same" ? {} : { "aria-label": kind }, SIGNS[kind]);
    const code = element("td", { class: "code" }, ...marked(text, pairs.get(line)));
    return element("tr", { class: kind }, place(before), place(after), sign, code);
  });
}

/** A line's text, with the part marked that differs from its counterpart. */
function marked(text: string, other: string | undefined): (Node | string)[] {
  if (other === undefined) return [text];
  const { start, end } = differing(text, other);
  const stop = text.length - end;
  // Lines with little in common are not an edit of one line.
  if (start + end < other.length / 3 || start >= stop) return [text];
  return [text.slice(0, start), element("mark", {}, text.slice(start, stop)), text.slice(stop)];
}

/** Pairs removed lines with as many added lines after them; each maps to its counterpart's text. */
function pairsOf(lines: readonly DiffLine[]): Map<DiffLine, string> {
  const pairs = new Map<DiffLine, string>();
  for (let from = 0; from < lines.length; ) {
    const run = (start: number, kind: DiffLine["kind"]) => {
      let end = start;
      while (lines[end]?.kind === kind) end += 1;
      return lines.slice(start, end);
    };
    const removed = run(from, "removed");
    const added = run(from + removed.length, "added");
    if (removed.length === added.length)
      removed.forEach((line, index) => {
        const other = added[index];
        if (other === undefined) return;
        pairs.set(line, other.text);
        pairs.set(other, line.text);
      });
    from += Math.max(removed.length + added.length, 1);
  }
  return pairs;
}
