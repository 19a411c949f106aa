// A memory as a list of its entities, with the facts of the selected one and a drawing of what is around it.
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
/** More names would overlap. */
const MAX_DRAWN = 12;

const host = new Host();
const types = new Set<string>();
/** The calls that continue answers, the latest last. */
const rests: [tool: string, input: Host["input"]][] = [];
let total: Exclude<Answer["total"], number>;
let selected = "";

const status = element("p", { class: "note", role: "status" });
const query = element("input", { type: "search", "aria-label": "Search the memory" });
query.placeholder = "Search; nothing for the whole memory";
// Not a form: a host's frame may not allow submitting one.
const search = () =>
  query.value.trim() === ""
    ? load("read_graph", { limit: 100 }, true)
    : load("search_nodes", { query: query.value, limit: 50 }, true);
const more = workButton("Load more", async () => {
  const rest = rests.at(-1);
  if (rest !== undefined) await load(...rest);
});
const canvas = element("div", { class: "box canvas" });
const list = element("ul", { "aria-label": "Entities" });
const facts = element("section", { "aria-live": "polite" });
const bar = element("div", { class: "bar" }, query, workButton("Search", search), more);
const sides = element("div", { class: "sides" }, facts, list);
const page = element("main", {}, bar, element("div", { class: "parts" }, canvas, sides), status);

/** Also the store of the entities, with their types and facts, and of the relations. */
const graph = cytoscape({ styleEnabled: true, maxZoom: 1, userZoomingEnabled: false });
graph.on("tap", "node", ({ target }) => void open(target.id()));

/** Adds an answer to the graph, or shows why there is none. */
function add(result: ToolResult, tool: string, input: Host["input"]): void {
  const answer = result.structuredContent as Answer | undefined;
  if (answer?.entities === undefined) {
    status.textContent = textOf(result);
    return;
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
  const cursor = answer.next_cursor;
  if (cursor !== undefined) rests.push([tool, { ...input, cursor }]);
  show();
}

/** The node of an entity; without a type and facts if only its relations are loaded. */
function nodeOf(id: string) {
  const node = graph.getElementById(id);
  return node.nonempty() ? node : graph.add({ data: { id, label: id, type: "", facts: [] } });
}

/** Adds the answer of a call, or starts a new graph with it. */
async function load(tool: string, input: Host["input"], isNew = false): Promise<void> {
  status.textContent = "Loading …";
  const result = await host.callTool(tool, input);
  if (isNew && !result.isError) {
    graph.elements().remove();
    rests.length = 0;
    selected = "";
  }
  add(result, tool, input);
}

function open(name: string): Promise<void> {
  selected = name;
  return load("open_nodes", { names: [name], depth: 1 });
}

function opener(name: string, label: string): HTMLButtonElement {
  const opener = button(name);
  opener.setAttribute("aria-label", label);
  opener.addEventListener("click", () => void open(name));
  return opener;
}

const colorOf = (type: string) => COLORS[[...types].indexOf(type)] ?? GRAY;

function show(): void {
  draw();
  const node = graph.getElementById(selected);
  const observations: string[] = node.data("facts") ?? [];
  const related = node.connectedEdges().map((edge) => {
    const isFrom = edge.source().id() === selected;
    const name = (isFrom ? edge.target() : edge.source()).id();
    const word = `${edge.data("label")} ${isFrom ? "→" : "←"}`;
    return element("li", {}, element("small", {}, `${word} `), opener(name, `${word} ${name}`));
  });
  facts.hidden = node.empty();
  facts.replaceChildren(
    element("h2", {}, selected, " ", element("small", {}, node.data("type") ?? "")),
    element("ul", { class: "bullets" }, ...observations.map((text) => element("li", {}, text))),
    element("ul", {}, ...related),
  );
  list.replaceChildren(
    ...graph.nodes().map((node) => {
      const type: string = node.data("type");
      const entry = opener(node.id(), [node.id(), type].filter(Boolean).join(", "));
      entry.setAttribute("aria-pressed", String(node.id() === selected));
      const swatch = element("span", { class: "swatch" });
      swatch.style.background = colorOf(type);
      return element("li", {}, swatch, entry, element("small", {}, type));
    }),
  );
  const part = (count: number, all = count) => (all > count ? `${count} of ${all}` : `${count}`);
  const loaded = `${part(graph.nodes().length, total?.entities)} entities`;
  const relations = `${part(graph.edges().length, total?.relations)} relations`;
  status.textContent = `${loaded}, ${relations}; ${graph.nodes().not(".far").length} drawn.`;
  more.hidden = rests.length === 0;
}

/** Draws what is closest to the selected entity, or to the best connected one, and the relations between. */
function draw(): void {
  const { color, backgroundColor: ground } = getComputedStyle(canvas);
  const hubs = graph.nodes().sort((a, b) => b.degree(false) - a.degree(false));
  const center = graph.getElementById(selected).union(hubs).slice(0, 1);
  const near = graph.elements().bfs({ roots: center }).path.nodes();
  const drawn = near.union(hubs).slice(0, MAX_DRAWN);
  graph.elements().addClass("far").removeClass("center");
  drawn.union(drawn.edgesWith(drawn)).removeClass("far");
  center.addClass("center");
  const typeColor = (node: NodeSingular) => colorOf(node.data("type"));
  const box = { shape: "round-rectangle", width: "label", height: "label" } as const;
  const fill = { "background-color": ground, "border-color": typeColor, "border-width": 2 };
  const name = { "text-valign": "center", "text-wrap": "ellipsis", padding: "5px" } as const;
  const line = { "curve-style": "bezier", "line-color": GRAY, width: 1 } as const;
  const arrow = { "target-arrow-shape": "triangle", "target-arrow-color": GRAY } as const;
  const word = { "text-rotation": "autorotate", "text-outline-color": ground } as const;
  graph.style([
    { selector: "*", style: { label: "data(label)", color, "font-size": 12 } },
    { selector: "node", style: { ...box, ...fill, ...name, "text-max-width": "110px" } },
    { selector: "edge", style: { ...line, ...arrow, ...word, "text-outline-width": 2 } },
    { selector: ".center", style: { "border-width": 4 } },
    { selector: ".far", style: { visibility: "hidden" } },
  ]);
  const concentric = (node: NodeSingular) => Number(node.hasClass("center"));
  // The few nodes of a small graph have space for the words on the lines.
  const spacing = { nodeDimensionsIncludeLabels: true, minNodeSpacing: 240 / drawn.length };
  graph.resize();
  drawn.layout({ name: "concentric", concentric, levelWidth: () => 1, ...spacing }).run();
}

query.addEventListener("keydown", ({ key }) => void (key === "Enter" && search()));
host.onResult = (result) => {
  const { input } = host;
  if (result.isError) return document.body.replaceChildren(plain(textOf(result), true));
  const tool = "query" in input ? "search_nodes" : "names" in input ? "open_nodes" : "read_graph";
  document.body.replaceChildren(page);
  bar.append(fullscreenButton(host));
  graph.mount(canvas);
  const [name] = Array.isArray(input.names) && input.names.length === 1 ? input.names : [""];
  selected = String(name);
  add(result, tool, input);
};
host.onDisplayMode = draw;
host.onTheme = draw;
void host.connect("refmcp-graph");
