// A memory as a graph. A click opens an entity and adds its neighbors; a search starts a new graph.
import "../../../../packages/core/views/view.css";
import "../../../../packages/core/views/sheet.css";
import "../../../../packages/core/views/marks.css";
import { button, plain } from "../../../../packages/core/views/controls.ts";
import { element, Host, svg, type ToolResult, textOf } from "../../../../packages/core/views/host.ts";
import { type Answer, type Entity, Graph, type Point } from "./graph.ts";
import { Labels } from "./labels.ts";
import "./view.css";

/** With more, they are indistinguishable. */
const MAX_DRAWN = 100;
/** With at least this many relations, an entity's name is placed first. */
const HUB = 3;
const NAME_SIZE = 12;
const RELATION_SIZE = 10.5;
const WIDTH = 640;
const HEIGHT = 380;
/** With more entities, the drawing is taller. */
const MAX_LOW = 40;
const TALL = 560;
const EDGE = 62;

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
const drawing = element("div", { class: "box" });
const types = element("ul", { class: "types", "aria-label": "Types" });
const opened = element("section", { class: "opened", "aria-live": "polite" });
const page = element(
  "main",
  {},
  element("div", { class: "bar" }, search, more),
  drawing,
  types,
  element("div", { class: "note" }, facts),
  opened,
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
  const failed = (error: Error) => ({ isError: true, content: [{ type: "text", text: error.message }] });
  return host.callTool(tool, input).catch(failed);
}

/** The tool that was called, by its arguments. */
function toolOf(input: Record<string, unknown>): string {
  if ("query" in input) return "search_nodes";
  if ("names" in input) return "open_nodes";
  return "name" in input ? "find_related" : "read_graph";
}

async function open(name: string): Promise<void> {
  chosen = name;
  const input = { names: [name], depth: 1 };
  if (take(await call("open_nodes", input), "open_nodes", input)) show(name);
  focusOn(name);
}

function focusOn(name: string): void {
  for (const node of drawing.querySelectorAll<SVGGElement>(".node"))
    if (node.dataset.name === name) node.focus();
}

function show(name: string): void {
  const entity = graph.entities.get(name);
  if (entity === undefined) return;
  const { entityType, observations = [], learned = [] } = entity;
  const related = graph.relationsOf(name).map(({ from, to, relationType }) => {
    const other = from === name ? to : from;
    const made = button(from === name ? `${relationType} → ${other}` : `${relationType} ← ${other}`);
    made.addEventListener("click", () => void open(other));
    return made;
  });
  const lines = observations.map((text, index) => {
    const day = learned.length === observations.length ? learned[index] : undefined;
    return element("li", day === undefined ? {} : { title: day }, text);
  });
  opened.replaceChildren(
    element("h2", {}, name, " ", element("small", {}, entityType)),
    lines.length === 0
      ? element("p", { class: "note" }, "Nothing else is known about it.")
      : element("ul", {}, ...lines),
    ...(related.length === 0 ? [] : [element("div", { class: "related" }, ...related)]),
  );
  opened.hidden = false;
}

function draw(): void {
  const entities = graph.most(MAX_DRAWN, chosen);
  const height = entities.length > MAX_LOW ? TALL : HEIGHT;
  const at = graph.places(entities, WIDTH - 2 * EDGE, height - EDGE);
  const place = (name: string): Point | undefined => {
    const point = at.get(name);
    return point && { x: point.x + EDGE, y: point.y + EDGE / 2 };
  };
  const names = graph.types();
  const view = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "group", "aria-label": "Graph" });
  view.append(arrow());
  const labels = new Labels(WIDTH);
  const nodes: SVGElement[] = [];
  const texts: SVGElement[] = [];
  // The names of the chosen entity and of the best connected may cover the circles of others.
  const isHub = ({ name }: Entity) => name === chosen || graph.relationsOf(name).length >= HUB;
  for (const group of [entities.filter(isHub), entities.filter((entity) => !isHub(entity))]) {
    const placed = group.flatMap((entity) => {
      const point = place(entity.name);
      return point === undefined ? [] : [{ entity, point }];
    });
    for (const { entity, point } of placed) labels.block(point, sizeOf(entity.name));
    for (const { entity, point } of placed) {
      const { node, name } = nodeOf(entity, point, names.indexOf(entity.entityType), labels);
      nodes.push(node);
      if (name !== undefined) texts.push(name);
    }
  }
  for (const { from, to, relationType } of graph.relations.values()) {
    const [start, end] = [place(from), place(to)];
    if (start === undefined || end === undefined) continue;
    const middle = { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 };
    const line = { x1: start.x, y1: start.y, x2: end.x, y2: end.y, "marker-end": "url(#arrow)" };
    view.append(svg("line", line, svg("title", {}, `${from} ${relationType} ${to}`)));
    const text = short(relationType);
    if (labels.place(text, middle.x, middle.y, RELATION_SIZE))
      view.append(svg("text", { class: "edge", ...middle }, text));
  }
  view.append(...nodes, ...texts);
  drawing.replaceChildren(view);
  types.replaceChildren(
    ...names
      .slice(0, 8)
      .map((type, color) => element("li", {}, element("span", { class: `swatch s${color}` }), type)),
  );
  facts.textContent = graph.summary(entities.length);
  more.hidden = next === undefined;
}

/** An entity's circle, and its name if there is space; without space the circle has it, for whoever points at it. */
function nodeOf(
  { name, entityType }: Entity,
  { x, y }: Point,
  type: number,
  labels: Labels,
): { node: SVGGElement; name: SVGTextElement | undefined } {
  const degree = graph.relationsOf(name).length;
  const relations = `${degree} ${degree === 1 ? "relation" : "relations"}`;
  const label = [name, ...(entityType === "" ? [] : [entityType]), relations].join(", ");
  const node = svg("g", {
    class: type < 0 || type > 7 ? "node" : `node s${type}`,
    role: "button",
    tabindex: 0,
    "aria-label": label,
    "aria-pressed": String(name === chosen),
  });
  node.dataset.name = name;
  const size = sizeOf(name);
  node.append(svg("title", {}, label), svg("circle", { cx: x, cy: y, r: size }));
  // Below the circle, or else above it.
  const lines = [y + size + 13, y - size - 4];
  const line = lines.find((at) => labels.place(short(name), x, at, NAME_SIZE));
  const text = svg("text", { class: "name", x, y: line ?? y + size + 13 }, short(name));
  if (line === undefined) node.append(text);
  else if (name === chosen) text.classList.add("chosen");
  node.addEventListener("click", () => void open(name));
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    void open(name);
  });
  return { node, name: line === undefined ? undefined : text };
}

/** The radius of an entity's circle. */
function sizeOf(name: string): number {
  return Math.min(6 + graph.relationsOf(name).length, 12);
}

function arrow(): SVGMarkerElement {
  const size = { markerWidth: 7, markerHeight: 7, refX: 22, refY: 5, orient: "auto" };
  return svg("marker", { id: "arrow", viewBox: "0 0 10 10", ...size }, svg("path", { d: "M0 0L10 5L0 10z" }));
}

function short(text: string): string {
  return text.length > 20 ? `${text.slice(0, 19)}…` : text;
}

async function find(): Promise<void> {
  const input = { query: query.value, limit: 50 };
  const result = await call("search_nodes", input);
  if (!result.isError) {
    graph = new Graph();
    chosen = undefined;
    opened.hidden = true;
  }
  take(result, "search_nodes", input);
}

go.addEventListener("click", () => void find());
query.addEventListener("keydown", ({ key }) => {
  if (key === "Enter") void find();
});
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
  document.body.replaceChildren(page);
  if (!take(result, toolOf(given), given)) {
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
void host.connect("refmcp-graph");
