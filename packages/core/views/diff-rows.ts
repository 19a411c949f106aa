// The lines of a file in a diff as table rows, in one column or side by side.
import { button } from "./controls.ts";
import { languageOf, type Token, tokensOf } from "./highlight.ts";
import { element } from "./host.ts";
import { type DiffLine, differing } from "./unified.ts";

/** How the lines of a file are shown. */
export interface RowLook {
  readonly title: string;
  readonly isSplit: boolean;
  readonly isColored: boolean;
}

type Tokens = ReadonlyMap<DiffLine, readonly Token[]>;

interface Drawing {
  readonly tokens: Tokens;
  readonly pairs: ReadonlyMap<DiffLine, string>;
  readonly isSplit: boolean;
}

const SIGNS = { same: " ", added: "+", removed: "−" } as const;
/** Unchanged lines around a change; a longer run is folded. */
const CONTEXT = 3;
const MIN_FOLDED = 8;

/** The rows of a file. */
export function rowsOf(
  lines: readonly DiffLine[],
  { title, isSplit, isColored }: RowLook,
): HTMLElement[] {
  const tokens = isColored ? colored(lines, title) : new Map<DiffLine, readonly Token[]>();
  const drawing = { tokens, pairs: pairsOf(lines), isSplit };
  // The first hunk needs no gap line: its line numbers show where it begins.
  const shown = lines[0]?.kind === "gap" && lines[0].text === "" ? lines.slice(1) : lines;
  return runsOf(shown).flatMap((run, index, runs) => {
    if (run[0]?.kind !== "same") return drawn(run, drawing);
    const isFirst =
      runs[index - 1]?.[0]?.kind === undefined || runs[index - 1]?.[0]?.kind === "gap";
    const isLast = runs[index + 1]?.[0]?.kind === undefined || runs[index + 1]?.[0]?.kind === "gap";
    const [before, after] = [isFirst ? 0 : CONTEXT, isLast ? 0 : CONTEXT];
    const hidden = run.slice(before, run.length - after);
    if (hidden.length < MIN_FOLDED) return drawn(run, drawing);
    const show = button(`⋯ ${hidden.length} unchanged lines`);
    const row = element("tr", { class: "gap" }, element("td", { colspan: "4" }, show));
    show.addEventListener("click", () => row.replaceWith(...drawn(hidden, drawing)));
    return [
      ...drawn(run.slice(0, before), drawing),
      row,
      ...drawn(after === 0 ? [] : run.slice(-after), drawing),
    ];
  });
}

/** Runs of unchanged lines, of changes, and single lines of other kinds. */
function runsOf(lines: readonly DiffLine[]): DiffLine[][] {
  const groupOf = ({ kind }: DiffLine) =>
    kind === "added" || kind === "removed" ? "change" : kind;
  const runs: DiffLine[][] = [];
  for (const line of lines) {
    const last = runs.at(-1);
    const before = last?.[0];
    const continues =
      before !== undefined && groupOf(before) === groupOf(line) && line.kind !== "gap";
    if (continues) last?.push(line);
    else runs.push([line]);
  }
  return runs;
}

function drawn(run: readonly DiffLine[], drawing: Drawing): HTMLElement[] {
  const [first] = run;
  if (first === undefined) return [];
  if (first.kind === "gap" || first.kind === "remark")
    return run.map(({ kind, text }) =>
      element("tr", { class: kind }, element("td", { colspan: "4" }, text === "" ? "⋯" : text)),
    );
  const rows = drawing.isSplit ? split(run, drawing) : run.map((line) => row(line, drawing));
  // Where the keys for the next and the previous change stop.
  if (first.kind !== "same") rows[0]?.classList.add("change");
  return rows;
}

const place = (number: number | undefined) =>
  element("td", { class: "place" }, String(number ?? ""));

function row(line: DiffLine, drawing: Drawing): HTMLElement {
  const { kind, before, after } = line;
  const sign = element(
    "td",
    kind === "same" ? { class: "sign" } : { class: "sign", "aria-label": kind },
    SIGNS[kind as keyof typeof SIGNS],
  );
  return element("tr", { class: kind }, place(before), place(after), sign, code(line, drawing));
}

/** Removed lines on the left, added ones on the right. */
function split(run: readonly DiffLine[], drawing: Drawing): HTMLElement[] {
  const of = (kind: DiffLine["kind"]) =>
    run.filter((line) => line.kind === kind || line.kind === "same");
  const [left, right] = [of("removed"), of("added")];
  return Array.from({ length: Math.max(left.length, right.length) }, (_, index) => {
    const side = (line: DiffLine | undefined, number: number | undefined) =>
      line === undefined
        ? [element("td", { class: "place" }), element("td", { class: "code none" })]
        : [place(number), code(line, drawing, `code ${line.kind}`)];
    const [before, after] = [left[index], right[index]];
    return element("tr", {}, ...side(before, before?.before), ...side(after, after?.after));
  });
}

/** A line's text with its colors, and with the part marked that differs from its counterpart. */
function code(line: DiffLine, { tokens, pairs }: Drawing, name = "code"): HTMLElement {
  const [start, stop] = markOf(line.text, pairs.get(line));
  const parts: Node[] = [];
  let at = 0;
  for (const { text, kind } of tokens.get(line) ?? [{ text: line.text, kind: "" }]) {
    const cuts = [0, start - at, stop - at, text.length].map((cut) =>
      Math.min(Math.max(cut, 0), text.length),
    );
    for (const [index, cut] of cuts.slice(1).entries()) {
      const piece = text.slice(cuts[index], cut);
      if (piece === "") continue;
      const shown =
        kind === ""
          ? document.createTextNode(piece)
          : element("span", { class: `t-${kind}` }, piece);
      const last = parts.at(-1);
      if (index !== 1) parts.push(shown);
      else if (last instanceof HTMLElement && last.tagName === "MARK") last.append(shown);
      else parts.push(element("mark", {}, shown));
    }
    at += text.length;
  }
  return element("td", { class: name }, ...parts);
}

/** Where the differing part of a line begins and ends. */
function markOf(text: string, other: string | undefined): readonly [number, number] {
  if (other === undefined) return [0, 0];
  const { start, end } = differing(text, other);
  // Lines with little in common are not an edit of one line.
  return start + end < other.length / 3 ? [0, 0] : [start, text.length - end];
}

/** Pairs removed lines with as many added lines after them; each maps to its counterpart's text. */
function pairsOf(lines: readonly DiffLine[]): Map<DiffLine, string> {
  const pairs = new Map<DiffLine, string>();
  for (const run of runsOf(lines)) {
    const [removed, added] = (["removed", "added"] as const).map((kind) =>
      run.filter((one) => one.kind === kind),
    );
    if (removed === undefined || removed.length !== added?.length) continue;
    removed.forEach((line, index) => {
      const other = added[index];
      if (other === undefined) return;
      pairs.set(line, other.text);
      pairs.set(other, line.text);
    });
  }
  return pairs;
}

/** The colors of each line. The two sides of each hunk are read as texts, since a comment can span lines. */
function colored(lines: readonly DiffLine[], title: string): Tokens {
  const language = languageOf(title);
  const tokens = new Map<DiffLine, readonly Token[]>();
  if (language === undefined) return tokens;
  const hunks: DiffLine[][] = [[]];
  for (const line of lines) {
    if (line.kind === "gap") hunks.push([]);
    else if (line.kind !== "remark") hunks.at(-1)?.push(line);
  }
  for (const hunk of hunks)
    for (const other of ["added", "removed"] as const) {
      const side = hunk.filter(({ kind }) => kind !== other);
      const found = tokensOf(side.map(({ text }) => text).join("\n"), language);
      for (const [index, line] of side.entries()) tokens.set(line, found[index] ?? []);
    }
  return tokens;
}
