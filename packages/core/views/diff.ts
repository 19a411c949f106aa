// Diffs for people: a list of the files, and a box for each with line numbers, colors, and the changed part of each line marked.
import "./view.css";
import "./sheet.css";
import "./diff.css";
import "./highlight.css";
import { button, copyButton, fullscreenButton, toggle } from "./controls.ts";
import { rowsOf } from "./diff-rows.ts";
import { element, type Host } from "./host.ts";
import { type DiffLine, type Section, sectionsOf } from "./unified.ts";

/** A page of a diff: its text, the server's remarks, and the cursor of the next page. */
export interface DiffPart {
  readonly body: string;
  readonly facts: string;
  readonly cursor: string | undefined;
}

/** Takes the cursor out of the server's remarks, with the sentence around it, which is for the model. */
export function partOf(body: string, facts: string): DiffPart {
  const next = /;? ?continue with cursor[ =]"([^"]+)"( or narrow with paths|\.)?/i.exec(facts);
  const left = next === null ? facts : facts.replace(next[0], "");
  // The list of the files shows which are not loaded.
  return { body, facts: left.replace(/; not shown yet: [^;]*/, ""), cursor: next?.[1] };
}

type FileSection = Extract<Section, { kind: "file" }>;

interface File {
  readonly section: FileSection;
  readonly box: HTMLDetailsElement;
  readonly body: HTMLElement;
  /** Whether its lines have colors, which come when it is opened. */
  isColored: boolean;
}

/** Pixels that files take inline before the others are folded. */
const MAX_OPEN = 600;
/** About the height of a line, and of a box without lines. */
const [LINE, HEAD] = [21, 44];
/** With this many files or more, the further ones are only in the list until they are asked for. */
const MANY = 8;
/** From this width, both sides of a diff have space for 60 characters. */
const WIDE = 1_000;
const MARKS = { added: "A", deleted: "D", renamed: "R", changed: "M", binary: "B" } as const;

/**
 * A diff with a toolbar.
 *
 * @param load loads the page at a cursor; rejects with a message for the user
 * @param actions additional buttons
 */
export function diffPage(
  host: Host,
  first: DiffPart,
  load: (cursor: string) => Promise<DiffPart>,
  ...actions: readonly HTMLElement[]
): HTMLElement {
  return new DiffPage(host, load, actions).show(first);
}

class DiffPage {
  readonly #load: (cursor: string) => Promise<DiffPart>;
  readonly #facts = element("p", { class: "facts", role: "status" });
  readonly #list = element("ul");
  readonly #nav = element("nav", { class: "files", "aria-label": "Files", hidden: "" }, this.#list);
  readonly #boxes = element("div");
  readonly #all = button("");
  readonly #more = button("Load more");
  readonly #wrap = toggle("Wrap lines", (on) => this.#boxes.classList.toggle("wrapped", on));
  readonly #side = toggle("Side by side", (on) => this.#split(on));
  readonly #steps = element("span", { class: "steps" });
  readonly #page: HTMLElement;
  readonly #files: File[] = [];
  /** Entries of the list for files that are not loaded. */
  readonly #pending = new Map<string, HTMLElement>();
  #cursor: string | undefined;
  #height = 0;
  #isSplit = false;
  /** Whether the user chose one column or two, which the width then does not change. */
  #isChosen = false;
  #current: Element | undefined;

  constructor(
    host: Host,
    load: (cursor: string) => Promise<DiffPart>,
    actions: readonly HTMLElement[],
  ) {
    this.#load = load;
    for (const [text, label, by] of [
      ["↑", "Previous change (p)", -1],
      ["↓", "Next change (n)", 1],
    ] as const) {
      const step = button(text);
      step.title = label;
      step.setAttribute("aria-label", label);
      step.addEventListener("click", () => this.#step(by));
      this.#steps.append(step);
    }
    this.#side.addEventListener("click", () => {
      this.#isChosen = true;
    });
    this.#all.addEventListener("click", () => {
      for (const { box } of this.#files) box.hidden = false;
      this.#all.hidden = true;
    });
    this.#more.addEventListener("click", () => void this.#loadMore());
    const controls = [
      this.#steps,
      this.#side,
      this.#wrap,
      fullscreenButton(host),
      ...actions,
      this.#more,
    ];
    const bar = element("div", { class: "bar" }, this.#facts, ...controls);
    this.#page = element("div", { class: "diff" }, bar, this.#nav, this.#boxes, this.#all);
    // On the document: a button that hides itself takes the focus out of the page.
    document.addEventListener("keydown", (event) => {
      const by = { n: 1, p: -1 }[event.key];
      if (
        by === undefined ||
        !this.#page.isConnected ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey
      )
        return;
      event.preventDefault();
      this.#step(by);
    });
    new ResizeObserver(([entry]) => {
      if (this.#isChosen || entry === undefined || entry.contentRect.width === 0) return;
      const isWide = entry.contentRect.width >= WIDE;
      this.#side.setAttribute("aria-pressed", String(isWide));
      this.#split(isWide);
    }).observe(this.#page);
  }

  show(part: DiffPart): HTMLElement {
    this.#add(part);
    return this.#page;
  }

  async #loadMore(): Promise<void> {
    if (this.#cursor === undefined || this.#more.disabled) return;
    this.#more.disabled = true;
    await this.#load(this.#cursor).then(
      (part) => this.#add(part),
      (error: Error) => {
        this.#facts.textContent = error.message;
      },
    );
    this.#more.disabled = false;
  }

  #add({ body, facts, cursor }: DiffPart): void {
    const sections = sectionsOf(body);
    const count = this.#files.length + sections.filter(({ kind }) => kind === "file").length;
    for (const section of sections) {
      if (section.kind === "text") this.#addText(section.text);
      else this.#addFile(section, count >= MANY);
    }
    this.#facts.textContent = facts;
    this.#cursor = cursor;
    this.#more.hidden = cursor === undefined;
    const hasLines = this.#files.some(({ section }) => section.lines.length > 0);
    for (const control of [this.#wrap, this.#side, this.#steps]) control.hidden = !hasLines;
    this.#nav.hidden = this.#list.childElementCount < 2;
    this.#all.textContent = `Show all ${this.#files.length} files`;
    this.#all.hidden = this.#files.every(({ box }) => !box.hidden);
  }

  /** Text between files; the server's list of a long diff becomes entries for the files that are not loaded. */
  #addText(text: string): void {
    const rest = text.split("\n").filter((line) => {
      const [, added, removed, path] =
        /^(?:[A-Z] )?(?:\+(\d+) -(\d+)|binary) (.+)$/.exec(line) ?? [];
      if (path === undefined) return true;
      const title = path.replace(" => ", " → ");
      const name = element("button", { type: "button", title: "Not loaded; loads more" }, title);
      name.addEventListener("click", () => void this.#loadMore());
      const counts = countsShown({ added: Number(added ?? 0), removed: Number(removed ?? 0) });
      const entry = element(
        "li",
        { class: "pending" },
        element("span", { class: "kind" }, "…"),
        name,
        ...counts,
      );
      this.#pending.set(title, entry);
      this.#list.append(entry);
      return false;
    });
    const shown = rest.join("\n").trim();
    if (shown !== "") this.#boxes.append(element("p", { class: "between" }, shown));
  }

  #addFile(section: FileSection, areMany: boolean): void {
    const { title, change, lines } = section;
    const counts = countsOf(lines);
    const badge = change === "changed" ? [] : [element("span", { class: "badge" }, change)];
    const copy = copyButton(() => section.patch);
    copy.title = "Copy this file's diff";
    const summary = element(
      "summary",
      {},
      element("span", { class: "title" }, title),
      ...badge,
      ...countsShown(counts),
    );
    const body = element("div", {
      class: "lines",
      role: "region",
      "aria-label": title,
      tabindex: "0",
    });
    const box = element(
      "details",
      { class: "file" },
      summary,
      element("div", { class: "tools" }, copy),
      body,
    );
    const name = element("button", { type: "button" }, title);
    const mark = element("span", { class: `kind ${change}`, title: change }, MARKS[change]);
    const link = element("li", {}, mark, name, ...countsShown(counts));
    const file: File = { section, box, body, isColored: false };
    name.addEventListener("click", () => this.#goTo(file));
    // The first file is always open, even if it is long.
    const height = HEAD + Math.min(lines.length * LINE, 20 * LINE);
    const isOpen = this.#files.length === 0 || this.#height + height <= MAX_OPEN;
    box.hidden = areMany && this.#height > MAX_OPEN;
    this.#height += isOpen ? height : HEAD;
    this.#files.push(file);
    this.#boxes.append(box);
    const pending = this.#pending.get(title);
    if (pending === undefined) this.#list.append(link);
    else pending.replaceWith(link);
    this.#pending.delete(title);
    body.hidden = lines.length === 0;
    this.#fill(file, isOpen);
    box.open = isOpen;
    box.addEventListener("toggle", () => {
      if (box.open && !file.isColored) this.#fill(file, true);
    });
  }

  #fill(file: File, isColored: boolean): void {
    const { section, body } = file;
    const { title, lines } = section;
    file.isColored = isColored;
    const look = { title, isSplit: this.#isSplit, isColored };
    const name = this.#isSplit ? "split" : "unified";
    body.replaceChildren(
      element("table", { class: name }, element("tbody", {}, ...rowsOf(lines, look))),
    );
  }

  #split(on: boolean): void {
    if (on === this.#isSplit) return;
    this.#isSplit = on;
    this.#current = undefined;
    for (const file of this.#files) this.#fill(file, file.box.open);
  }

  #goTo({ box }: File): void {
    box.hidden = false;
    box.open = true;
    box.scrollIntoView({ block: "start" });
    box.querySelector("summary")?.focus({ preventScroll: true });
  }

  /** Goes to the next change, or the one before; opens its file. */
  #step(by: number): void {
    const changes = [...this.#boxes.querySelectorAll("tr.change")];
    const at =
      this.#current === undefined ? (by > 0 ? -1 : changes.length) : changes.indexOf(this.#current);
    const next = changes[at + by];
    if (next === undefined) return;
    const file = this.#files.find(({ box }) => box.contains(next));
    const index = changes.indexOf(next);
    if (file !== undefined && !file.box.open) {
      file.box.hidden = false;
      file.box.open = true;
      if (!file.isColored) this.#fill(file, true);
    }
    const shown = [...this.#boxes.querySelectorAll("tr.change")][index];
    this.#current?.classList.remove("current");
    shown?.classList.add("current");
    shown?.scrollIntoView({ block: "center" });
    file?.body.focus({ preventScroll: true });
    this.#current = shown;
  }
}

type Counts = Readonly<Record<"added" | "removed", number>>;

function countsOf(lines: readonly DiffLine[]): Counts {
  const count = (kind: DiffLine["kind"]) => lines.filter((line) => line.kind === kind).length;
  return { added: count("added"), removed: count("removed") };
}

/** How many lines were added and removed, as elements. */
function countsShown(counts: Counts): HTMLElement[] {
  return (["added", "removed"] as const)
    .filter((kind) => counts[kind] > 0)
    .map((kind) => {
      const text = `${kind === "added" ? "+" : "−"}${counts[kind]}`;
      return element("span", { class: `count ${kind}`, title: `${kind} lines` }, text);
    });
}
