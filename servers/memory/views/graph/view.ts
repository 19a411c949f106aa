// A memory as a graph, next to a list of its entities. What is selected shows its facts and adds its neighbors; a search starts again.
import cytoscape from "cytoscape";
import {
  button,
  fullscreenButton,
  plain,
  workButton,
} from "../../../../packages/core/views/controls.ts";
import { element, Host, type ToolResult, textOf } from "../../../../packages/core/views/host.ts";

interface Entity {
  readonly name: string;
  readonly entityType: string;
  readonly observations?: readonly string[];
}

interface Relation {
  readonly from: string;
  readonly to: string;
  readonly relationType: string;
}

/** The answer of the tools that read a memory. */
interface Answer {
  readonly entities?: readonly Entity[];
  readonly relations?: readonly Relation[];
  /** The size of the whole memory where the answer is a page of it; a search has a number. */
  readonly total?: { readonly entities: number; readonly relations: number } | number;
  readonly next_cursor?: string;
}

/** With more, only the best connected entities have names, and only relations of the selected one have words. */
const [MAX_NAMES, MAX_HUBS, MAX_WORDS] = [40, 12, 40];
/** Colors that people with color blindness can distinguish (Okabe and Ito), by type, the most frequent first. */
const COLORS = "#56b4e9 #e69f00 #009e73 #d55e00 #cc79a7 #0072b2 #8c6d31".split(" ");
const UNKNOWN = "#888888";
const MAX_NAME = 28;
const PADDING = 24;

const host = new Host();
const entities = new Map<string, Entity>();
const relations = new Map<string, Relation>();
let total: Exclude<Answer["total"], number>;
let selected = "";
/** The call that continues the last answer. */
let next: { readonly tool: string; readonly input: Host["input"] } | undefined;

const status = element("p", { class: "note", role: "status" });
const query = element("input", { type: "search", "aria-label": "Search the memory" });
query.placeholder = "Search the memory";
// Not a form: a host's frame may not allow submitting one.
const find = () => restart("search_nodes", { query: query.value, limit: 50 });
const go = workButton("Search", find);
const whole = workButton("Whole memory", () => restart("read_graph", { limit: 100 }));
const more = workButton("Load more", async () => {
  if (next === undefined) return;
  const { tool, input } = next;
  add(await call(tool, input), tool, input);
});
const fit = button("Show all");
const canvas = element("div", { class: "box canvas" });
const list = element("ul", { "aria-label": "Entities" });
const facts = element("section", { "aria-live": "polite", hidden: "" });
const bar = element("div", { class: "bar" }, query, go, whole, more, fit);
const sides = element("div", { class: "sides" }, facts, list);
const page = element("main", {}, bar, element("div", { class: "parts" }, canvas, sides), status);

const graph = cytoscape({ styleEnabled: true, maxZoom: 2, userZoomingEnabled: false });
graph.on("tap", "node", ({ target }) => void open(target.id()));

/** Adds an answer to the graph, or shows why there is none. */
function add(result: ToolResult, tool: string, given: Host["input"]): boolean {
  const answer = result.structuredContent as Answer | undefined;
  if (result.isError || answer?.entities === undefined) {
    status.textContent = textOf(result);
    return false;
  }
  if (typeof answer.total === "object") total = answer.total;
  for (const entity of answer.entities) entities.set(entity.name, entity);
  for (const relation of answer.relations ?? []) {
    relations.set(JSON.stringify([relation.from, relation.relationType, relation.to]), relation);
    // An entity that is only known from relations has no type until it is opened.
    for (const name of [relation.from, relation.to])
      if (!entities.has(name)) entities.set(name, { name, entityType: "" });
  }
  const { next_cursor: cursor } = answer;
  // Opening an entity adds to the shown answer, which can still be continued.
  if (tool !== "open_nodes" || given.depth !== 1)
    next = cursor === undefined ? undefined : { tool, input: { ...given, cursor } };
  draw();
  return true;
}

function call(tool: string, given: Host["input"]): Promise<ToolResult> {
  status.textContent = "Loading …";
  return host.callTool(tool, given);
}

async function open(name: string): Promise<void> {
  selected = name;
  const args = { names: [name], depth: 1 };
  if (add(await call("open_nodes", args), "open_nodes", args)) showFacts();
}

function showFacts(): void {
  const entity = entities.get(selected);
  facts.hidden = entity === undefined;
  if (entity === undefined) return;
  const related = [...relations.values()].flatMap(({ from, to, relationType }) => {
    if (from !== selected && to !== selected) return [];
    const other = from === selected ? to : from;
    const word = from === selected ? `${relationType} →` : `${relationType} ←`;
    const go = button(other);
    go.setAttribute("aria-label", `${word} ${other}`);
    go.addEventListener("click", () => void open(other));
    return [element("li", {}, element("small", {}, `${word} `), go)];
  });
  const observations = (entity.observations ?? []).map((text) => element("li", {}, text));
  facts.replaceChildren(
    element("h2", {}, selected, " ", element("small", {}, entity.entityType)),
    element("ul", { class: "bullets" }, ...observations),
    element("ul", {}, ...related),
  );
}

function draw(): void {
  const degrees = new Map<string, number>();
  for (const { from, to } of relations.values())
    for (const name of new Set([from, to])) degrees.set(name, (degrees.get(name) ?? 0) + 1);
  const counts = new Map<string, number>();
  for (const { entityType } of entities.values())
    if (entityType !== "") counts.set(entityType, (counts.get(entityType) ?? 0) + 1);
  const types = [...counts].sort(([, a], [, b]) => b - a).map(([type]) => type);
  const colorOf = (type: string) => COLORS[types.indexOf(type)] ?? UNKNOWN;

  for (const { name, entityType } of entities.values()) {
    const short = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name;
    const data = {
      id: name,
      name: short,
      color: colorOf(entityType),
      degree: degrees.get(name) ?? 0,
    };
    const node = graph.getElementById(name);
    const count = graph.nodes().length;
    // On a spiral at first, from which the layout makes the same drawing of the same graph.
    const [distance, angle] = [40 * Math.sqrt(count), 2.4 * count];
    const position = { x: distance * Math.cos(angle), y: distance * Math.sin(angle) };
    if (node.empty()) graph.add({ data, position });
    else node.data(data);
  }
  for (const [id, { from, to, relationType }] of relations)
    if (graph.getElementById(id).empty())
      graph.add({ data: { id, source: from, target: to, word: relationType } });
  const isSmall = graph.nodes().length <= MAX_NAMES;
  const layout = { animate: false, randomize: false, nodeDimensionsIncludeLabels: isSmall };
  graph.layout({ ...layout, name: "cose", padding: PADDING }).run();
  mark();

  list.replaceChildren(
    ...[...entities.values()].map(({ name, entityType }) => {
      const entry = button(name);
      const count = degrees.get(name) ?? 0;
      const words = [name, entityType, `${count} ${count === 1 ? "relation" : "relations"}`];
      entry.setAttribute("aria-label", words.filter(Boolean).join(", "));
      entry.setAttribute("aria-pressed", String(name === selected));
      entry.addEventListener("click", () => void open(name));
      const swatch = element("span", { class: "swatch" });
      swatch.style.background = colorOf(entityType);
      return element("li", {}, swatch, entry, element("small", {}, entityType));
    }),
  );
  const part = (count: number, all = count) => (all > count ? `${count} of ${all}` : `${count}`);
  const loaded = `${part(entities.size, total?.entities)} entities`;
  status.textContent = `${loaded}, ${part(relations.size, total?.relations)} relations.`;
  more.hidden = next === undefined;
}

/** Marks what is selected, moves to it and its neighbors, and chooses the names and words that have space. */
function mark(): void {
  const node = graph.getElementById(selected);
  const near = node.closedNeighborhood();
  const byDegree = graph.nodes().sort((one, other) => other.degree(false) - one.degree(false));
  const worded = graph.edges().length > MAX_WORDS ? near.edges() : graph.edges();
  graph.elements().removeClass("selected worded named");
  node.addClass("selected");
  byDegree.slice(0, byDegree.length > MAX_NAMES ? MAX_HUBS : MAX_NAMES).addClass("named");
  near.nodes().addClass("named");
  worded.addClass("worded");
  if (near.nonempty()) graph.fit(near, PADDING);
}

/** Names and words keep their size when the drawing is scaled. */
graph.on("zoom", () => {
  graph.nodes().style({ "font-size": 12 / graph.zoom() });
  graph.edges().style({ "font-size": 11 / graph.zoom() });
});

/** A color of the style sheet, as the canvas needs it. */
function color(value: string): string {
  canvas.style.color = value;
  const { color } = getComputedStyle(canvas);
  canvas.style.color = "";
  return color;
}

/** Draws in the colors of the host's theme. */
function style(): void {
  if (!canvas.isConnected) return;
  const [text, muted, accent, halo] = [
    color("inherit"),
    color("var(--muted)"),
    color("var(--accent)"),
    color("var(--page)"),
  ];
  const words = { "text-outline-color": halo, "text-outline-width": 2 };
  graph.style([
    {
      selector: "node",
      style: {
        "background-color": "data(color)",
        width: "mapData(degree, 0, 30, 14, 40)",
        height: "mapData(degree, 0, 30, 14, 40)",
      },
    },
    {
      selector: "node.named",
      style: { ...words, label: "data(name)", color: text, "text-valign": "bottom" },
    },
    {
      selector: "edge",
      style: {
        width: 1,
        "line-color": muted,
        "target-arrow-color": muted,
        "target-arrow-shape": "triangle",
        "curve-style": "bezier",
      },
    },
    {
      selector: "edge.worded",
      style: { ...words, label: "data(word)", color: accent, "line-color": accent },
    },
    { selector: "node.selected", style: { "border-width": 3, "border-color": text, "z-index": 9 } },
  ]);
}

/** Starts a new graph with an answer. */
async function restart(tool: string, given: Record<string, unknown>): Promise<void> {
  const result = await call(tool, given);
  if (!result.isError) {
    entities.clear();
    relations.clear();
    graph.elements().remove();
    selected = "";
    showFacts();
    whole.hidden = tool === "read_graph";
  }
  add(result, tool, given);
}

query.addEventListener("keydown", ({ key }) => {
  if (key === "Enter") void find();
});
fit.addEventListener("click", () => graph.fit(undefined, PADDING));
host.onResult = (result) => {
  const { input } = host;
  const tool = "query" in input ? "search_nodes" : "names" in input ? "open_nodes" : "read_graph";
  whole.hidden = tool === "read_graph";
  document.body.replaceChildren(page);
  bar.append(fullscreenButton(host));
  graph.mount(canvas);
  style();
  const [name] = Array.isArray(input.names) && input.names.length === 1 ? input.names : [""];
  selected = String(name);
  if (!add(result, tool, input)) document.body.replaceChildren(plain(textOf(result), true));
  else showFacts();
};
host.onDisplayMode = (mode) => {
  // Inline, the wheel scrolls the conversation.
  graph.userZoomingEnabled(mode === "fullscreen");
  graph.resize();
  graph.fit(undefined, PADDING);
};
host.onTheme = style;
void host.connect("refmcp-graph");
