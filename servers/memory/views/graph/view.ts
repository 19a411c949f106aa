// A memory as a graph. A click opens an entity and adds its neighbors; a search starts a new graph.
import "../../../../packages/core/views/view.css";
import "../../../../packages/core/views/sheet.css";
import "../../../../packages/core/views/marks.css";
import { button, fullscreenButton, plain } from "../../../../packages/core/views/controls.ts";
import { element, Host, type ToolResult, textOf } from "../../../../packages/core/views/host.ts";
import { Drawing } from "./drawing.ts";
import { type Answer, Graph } from "./graph.ts";
import "./view.css";

/** Entities of a large memory that are loaded at once. */
const PAGE = 100;
/** More make a drawing that nobody can read, and a slow one. */
const MAX_DRAWN = 500;
/** A drawing of more entities is taller. */
const MAX_LOW = 40;
const [LOW, TALL] = [380, 560];
/** The first entities of the memory, with their relations. */
const FIRST = { limit: PAGE } as const;

const host = new Host();
let given: Record<string, unknown> = {};
let graph = new Graph();
let chosen: string | undefined;
/** The call that continues the last answer. */
let next: { readonly tool: string; readonly input: Record<string, unknown> } | undefined;

const facts = element("p", { class: "facts", role: "status" });
const query = element("input", {
  type: "search",
  placeholder: "Search the memory",
  "aria-label": "Search the memory",
});
// Not a form: a host's frame may not allow submitting one.
const go = button("Search");
const search = element("div", { class: "search", role: "search" }, query, go);
const more = button("Load more");
const whole = button("Whole memory");
const drawing = new Drawing((name) => void open(name));
const box = element("div", { class: "box" }, drawing.svg, drawing.controls());
const types = element("ul", { class: "types", "aria-label": "Types" });
const opened = element("section", { class: "opened", "aria-live": "polite" });
const note = element("div", { class: "note" }, facts);
const bar = element("div", { class: "bar" }, search, whole, more);
const page = element(
  "main",
  {},
  bar,
  element("div", { class: "parts" }, element("div", { class: "graph" }, box, types, note), opened),
);

/** Adds an answer to the graph, or shows why there is none. */
function take(result: ToolResult, tool: string, input: Record<string, unknown>): boolean {
  const answer = result.structuredContent as Answer | undefined;
  if (result.isError || answer?.entities === undefined) {
    facts.textContent = textOf(result);
    return false;
  }
  graph.add(answer);
  const cursor = answer.next_cursor;
  // Opening an entity adds to the shown answer, which can still be continued.
  if (tool !== "open_nodes" || input.depth !== 1)
    next = cursor === undefined ? undefined : { tool, input: { ...input, cursor } };
  draw();
  return true;
}

function call(tool: string, input: Record<string, unknown>): Promise<ToolResult> {
  facts.textContent = "Loading …";
  const failed = (error: Error) => ({
    isError: true,
    content: [{ type: "text", text: error.message }],
  });
  return host.callTool(tool, input).catch(failed);
}

/** The tool that was called, by its arguments. */
function toolOf(input: Record<string, unknown>): string {
  if ("query" in input) return "search_nodes";
  return "names" in input ? "open_nodes" : "read_graph";
}

async function open(name: string): Promise<void> {
  chosen = name;
  const input = { names: [name], depth: 1 };
  if (take(await call("open_nodes", input), "open_nodes", input)) show(name);
  drawing.focus(name);
}

function show(name: string): void {
  const entity = graph.entities.get(name);
  if (entity === undefined) return;
  const { entityType, observations = [], learned = [] } = entity;
  const related = new Map<string, HTMLElement[]>();
  for (const { from, to, relationType } of graph.relationsOf(name)) {
    const [kind, other] = from === name ? [`${relationType} →`, to] : [`${relationType} ←`, from];
    const made = button(other);
    made.setAttribute("aria-label", `${kind} ${other}`);
    made.addEventListener("click", () => void open(other));
    related.set(kind, [...(related.get(kind) ?? []), made]);
  }
  // One entry for each run of equal times: `3x 2026-07-28`.
  const times = learned.flatMap((run) => {
    const [, count = "1", time = run] = /^(\d+)x (.*)$/.exec(run) ?? [];
    return Array.from({ length: Number(count) }, () => time);
  });
  const lines = observations.map((text, index) => {
    const time = times[index] ?? (times.length === 1 ? times[0] : undefined);
    return element("li", time === undefined ? {} : { title: time }, text);
  });
  opened.replaceChildren(
    element("h2", {}, name, " ", element("small", {}, entityType)),
    lines.length === 0
      ? element("p", { class: "note" }, "Nothing else is known about it.")
      : element("ul", {}, ...lines),
    ...[...related].map(([kind, buttons]) =>
      element("div", { class: "related" }, element("span", {}, kind), ...buttons),
    ),
  );
  opened.hidden = false;
}

function draw(): void {
  const entities = graph.most(MAX_DRAWN, chosen);
  resize();
  drawing.show(graph, entities, chosen);
  types.replaceChildren(
    ...graph
      .types()
      .slice(0, 8)
      .map((type, color) =>
        element("li", {}, element("span", { class: `swatch s${color}` }), type),
      ),
  );
  facts.textContent = graph.summary(entities.length);
  more.hidden = next === undefined;
}

/** Gives the drawing the width of its box, and inline a height for what it shows. */
function resize(): void {
  drawing.isFull = host.displayMode === "fullscreen";
  const low = graph.entities.size > MAX_LOW ? TALL : LOW;
  // In fullscreen, the drawing takes what the other parts leave.
  const rest = innerHeight - bar.offsetHeight - types.offsetHeight - note.offsetHeight - 48;
  const width = box.clientWidth || 640;
  drawing.resize(width, drawing.isFull ? Math.max(rest, 200) : Math.min(low, Math.max(width, 300)));
}

/** Starts a new graph with an answer. */
async function restart(tool: string, input: Record<string, unknown>): Promise<void> {
  const result = await call(tool, input);
  if (!result.isError) {
    graph = new Graph();
    drawing.fit();
    chosen = undefined;
    opened.hidden = true;
    whole.hidden = tool === "read_graph";
  }
  take(result, tool, input);
}

const find = () => restart("search_nodes", { query: query.value, limit: 50 });

go.addEventListener("click", () => void find());
query.addEventListener("keydown", ({ key }) => {
  if (key === "Enter") void find();
});
whole.addEventListener("click", () => void restart("read_graph", { ...FIRST }));
more.addEventListener("click", async () => {
  if (next === undefined || more.disabled) return;
  more.disabled = true;
  const { tool, input } = next;
  const result = await call(tool, input);
  more.disabled = false;
  take(result, tool, input);
});
host.onInput = (input) => {
  given = input;
};
host.onResult = (result) => {
  opened.hidden = true;
  const tool = toolOf(given);
  whole.hidden = tool === "read_graph";
  document.body.replaceChildren(page);
  bar.append(fullscreenButton(host));
  new ResizeObserver(resize).observe(box);
  if (!take(result, tool, given)) {
    document.body.replaceChildren(plain(textOf(result), true));
    return;
  }
  const names = given.names;
  const only = Array.isArray(names) && names.length === 1 ? String(names[0]) : undefined;
  if (only !== undefined && graph.entities.has(only)) {
    chosen = only;
    draw();
    show(only);
  }
};
host.onDisplayMode = resize;
addEventListener("resize", resize);
void host.connect("refmcp-graph");
