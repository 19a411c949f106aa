// A memory as a graph, next to a list of its entities. What is selected shows its facts and adds its neighbors; a search starts again.
import cytoscape, { type NodeSingular } from "cytoscape";
import {
  button,
  fullscreenButton,
  plain,
  workButton,
} from "../../../../packages/core/views/controls.ts";
import { element, Host, type ToolResult, textOf } from "../../../../packages/core/views/host.ts";
import type { Relation } from "../../src/graph/types.ts";

/** The answer of the tools that read a memory. In an overview, entities have no observations. */
interface Answer {
  readonly entities?: readonly { name: string; entityType: string; observations?: string[] }[];
  readonly relations?: readonly Relation[];
  /** The size of the whole memory where the answer is a page of it; a search has a number. */
  readonly total?: { readonly entities: number; readonly relations: number } | number;
  readonly next_cursor?: string;
}

/** Colors that people with color blindness can distinguish (Okabe and Ito), for types in the order of the answers. */
const COLORS = "#56b4e9 #e69f00 #009e73 #d55e00 #cc79a7 #0072b2 #8c6d31".split(" ");
const GRAY = "#888888";
const PADDING = 24;
/** With more entities, there is space only for the names of the best connected ones. */
const MAX_NAMES = 15;

const host = new Host();
const types = new Set<string>();
/** The calls that continue answers, the latest last. */
const rests: { readonly tool: string; readonly input: Host["input"] }[] = [];
let total: Exclude<Answer["total"], number>;
let selected = "";

const status = element("p", { class: "note", role: "status" });
const query = element("input", { type: "search", "aria-label": "Search the memory" });
query.placeholder = "Search; nothing for the whole memory";
// Not a form: a host's frame may not allow submitting one.
const find = () =>
  query.value.trim() === ""
    ? restart("read_graph", { limit: 100 })
    : restart("search_nodes", { query: query.value, limit: 50 });
const more = workButton("Load more", async () => {
  const rest = rests.at(-1);
  if (rest !== undefined && add(await call(rest.tool, rest.input), rest.tool, rest.input))
    showFacts();
});
const whole = button("Show all");
const canvas = element("div", { class: "box canvas" });
const list = element("ul", { "aria-label": "Entities" });
const facts = element("section", { "aria-live": "polite", hidden: "" });
const bar = element("div", { class: "bar" }, query, workButton("Search", find), more, whole);
const sides = element("div", { class: "sides" }, facts, list);
const page = element("main", {}, bar, element("div", { class: "parts" }, canvas, sides), status);

/** It also holds the entities, with their types and facts, and the relations. */
const graph = cytoscape({ styleEnabled: true, maxZoom: 1.5, userZoomingEnabled: false });
graph.on("tap", "node", ({ target }) => void open(target.id()));
/** Names and words keep their size when the drawing is scaled. */
graph.on("zoom", () => {
  const zoom = graph.zoom();
  graph.elements().style({ "font-size": 12 / zoom, "text-max-width": `${180 / zoom}px` });
});

/** Adds an answer to the graph, or shows why there is none. */
function add(result: ToolResult, tool: string, input: Host["input"]): boolean {
  const answer = result.structuredContent as Answer | undefined;
  if (result.isError || answer?.entities === undefined) {
    status.textContent = textOf(result);
    return false;
  }
  if (typeof answer.total === "object") total = answer.total;
  for (const { name, entityType, observations } of answer.entities) {
    types.add(entityType);
    // An answer that continues another one may continue an entity.
    const before: string[] = input.cursor === undefined ? [] : nodeOf(name).data("facts");
    const all = observations && { facts: [...new Set([...before, ...observations])] };
    nodeOf(name).data({ type: entityType, ...all });
  }
  for (const { from, to, relationType: label } of answer.relations ?? []) {
    const id = JSON.stringify([from, label, to]);
    const ends = { source: nodeOf(from).id(), target: nodeOf(to).id() };
    if (graph.getElementById(id).empty()) graph.add({ data: { id, label, ...ends } });
  }
  if (input.cursor !== undefined) rests.pop();
  const { next_cursor: cursor } = answer;
  if (cursor !== undefined) rests.push({ tool, input: { ...input, cursor } });
  draw();
  return true;
}

/** The node of an entity; without a type and facts if only its relations are loaded. */
function nodeOf(id: string): NodeSingular {
  const node = graph.getElementById(id);
  if (node.nonempty()) return node;
  // On a spiral at first, from which the layout makes the same drawing of the same graph.
  const count = graph.nodes().length;
  const [distance, angle] = [40 * Math.sqrt(count), 2.4 * count];
  const position = { x: distance * Math.cos(angle), y: distance * Math.sin(angle) };
  graph.add({ data: { id, label: id, type: "", facts: [] }, position });
  return graph.getElementById(id);
}

function call(tool: string, input: Host["input"]): Promise<ToolResult> {
  status.textContent = "Loading …";
  return host.callTool(tool, input);
}

async function open(name: string): Promise<void> {
  selected = name;
  const input = { names: [name], depth: 1 };
  if (add(await call("open_nodes", input), "open_nodes", input)) showFacts();
}

function opener(name: string, label: string): HTMLButtonElement {
  const opener = button(name);
  opener.setAttribute("aria-label", label);
  opener.addEventListener("click", () => void open(name));
  return opener;
}

function showFacts(): void {
  const node = graph.getElementById(selected);
  facts.hidden = node.empty();
  if (node.empty()) return;
  const observations: string[] = node.data("facts");
  const related = node.connectedEdges().map((edge) => {
    const isFrom = edge.source().id() === selected;
    const name = (isFrom ? edge.target() : edge.source()).id();
    const word = `${edge.data("label")} ${isFrom ? "→" : "←"}`;
    return element("li", {}, element("small", {}, `${word} `), opener(name, `${word} ${name}`));
  });
  facts.replaceChildren(
    element("h2", {}, selected, " ", element("small", {}, node.data("type"))),
    element("ul", { class: "bullets" }, ...observations.map((text) => element("li", {}, text))),
    element("ul", {}, ...related),
  );
}

const colorOf = (type: string) => COLORS[[...types].indexOf(type)] ?? GRAY;

function draw(): void {
  const isSmall = graph.elements().length <= 2 * MAX_NAMES;
  const layout = { animate: false, randomize: false, nodeDimensionsIncludeLabels: isSmall };
  graph.layout({ ...layout, name: "cose", padding: PADDING }).run();
  const node = graph.getElementById(selected);
  const near = node.closedNeighborhood();
  const hubs = graph.nodes().sort((a, b) => b.degree(false) - a.degree(false));
  graph.elements().removeClass("selected named");
  node.addClass("selected");
  (near.nonempty() ? near : isSmall ? graph.elements() : hubs.slice(0, MAX_NAMES)).addClass(
    "named",
  );
  if (near.nonempty()) graph.fit(near, PADDING);

  list.replaceChildren(
    ...graph.nodes().map((node) => {
      const type: string = node.data("type");
      const count = node.degree(false);
      const words = [node.id(), type, `${count} ${count === 1 ? "relation" : "relations"}`];
      const entry = opener(node.id(), words.filter(Boolean).join(", "));
      entry.setAttribute("aria-pressed", String(node.id() === selected));
      const swatch = element("span", { class: "swatch" });
      swatch.style.background = colorOf(type);
      return element("li", {}, swatch, entry, element("small", {}, type));
    }),
  );
  const part = (count: number, all = count) => (all > count ? `${count} of ${all}` : `${count}`);
  const loaded = `${part(graph.nodes().length, total?.entities)} entities`;
  status.textContent = `${loaded}, ${part(graph.edges().length, total?.relations)} relations.`;
  more.hidden = rests.length === 0;
}

/** Draws in the colors of the host's theme. */
function style(): void {
  if (!canvas.isConnected) return;
  const { color, backgroundColor } = getComputedStyle(canvas);
  const halo = { "text-outline-color": backgroundColor, "text-outline-width": 2 };
  const arrow = { "target-arrow-shape": "triangle", "target-arrow-color": GRAY };
  const background = (node: NodeSingular) => colorOf(node.data("type"));
  graph.style([
    { selector: "node", style: { "background-color": background, width: 20, height: 20 } },
    { selector: "node", style: { "text-valign": "bottom", "text-wrap": "ellipsis" } },
    {
      selector: "edge",
      style: { ...arrow, "line-color": GRAY, "curve-style": "bezier", width: 1 },
    },
    { selector: ".named", style: { ...halo, label: "data(label)", color, "z-index": 9 } },
    { selector: ".selected", style: { "border-width": 3, "border-color": color } },
  ]);
}

/** Starts a new graph with an answer. */
async function restart(tool: string, input: Host["input"]): Promise<void> {
  const result = await call(tool, input);
  if (!result.isError) {
    graph.elements().remove();
    rests.length = 0;
    selected = "";
    showFacts();
  }
  add(result, tool, input);
}

query.addEventListener("keydown", ({ key }) => {
  if (key === "Enter") void find();
});
whole.addEventListener("click", () => graph.fit(undefined, PADDING));
host.onResult = (result) => {
  const { input } = host;
  const tool = "query" in input ? "search_nodes" : "names" in input ? "open_nodes" : "read_graph";
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
