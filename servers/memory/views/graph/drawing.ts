// The drawing of a graph: zoom, drag, names that do not cover each other, and the relations of the entity that is pointed at.
import { drag } from "d3-drag";
import { select } from "d3-selection";
import { type ZoomTransform, zoom, zoomIdentity } from "d3-zoom";
import { element, svg } from "../../../../packages/core/views/host.ts";
import type { Entity, Graph, Node, Relation } from "./graph.ts";
import { forgetWidths, Labels, widthOf } from "./labels.ts";
import { extentOf } from "./layout.ts";

const NAME_SIZE = 12;
const RELATION_SIZE = 10.5;
/** Space around a drawing that is fitted, for names. */
const MARGIN = 34;
/** A small graph is not stretched beyond this. */
const MAX_FIT = 1.6;
const MAX_NAME = 26;
const KEYS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
} as const;

interface Shown {
  readonly node: Node;
  readonly entity: Entity;
  readonly radius: number;
  readonly circle: SVGGElement;
  readonly name: SVGTextElement;
  readonly text: string;
}

interface Edge {
  readonly relation: Relation;
  readonly from: Shown;
  readonly to: Shown;
  readonly line: SVGLineElement;
  readonly label: SVGTextElement;
}

/** Draws a graph, and calls `open` with the name of an entity that the user chooses. */
export class Drawing {
  readonly svg = svg("svg", { role: "group", "aria-label": "Graph" });
  /** Whether the wheel zooms and one finger pans, which inline would keep the page from scrolling. */
  isFull = false;
  readonly #open: (name: string) => void;
  readonly #zoom = zoom<SVGSVGElement, unknown>();
  #transform: ZoomTransform = zoomIdentity;
  #size = { width: 640, height: 400 };
  #shown = new Map<string, Shown>();
  #edges: Edge[] = [];
  #chosen: string | undefined;
  #pointed: string | undefined;
  /** Whether the user has moved the drawing, which is then not fitted again. */
  #isMoved = false;

  constructor(open: (name: string) => void) {
    this.#open = open;
    this.#zoom
      .filter((event: MouseEvent & { touches?: TouchList }) => {
        if (event.type === "wheel") return this.isFull || event.ctrlKey || event.metaKey;
        if (event.touches !== undefined) return this.isFull || event.touches.length > 1;
        return event.button === 0;
      })
      .on("zoom", (event: { transform: ZoomTransform; sourceEvent: Event | null }) => {
        this.#transform = event.transform;
        this.#isMoved ||= event.sourceEvent !== null;
        this.#update();
      });
    select(this.svg).call(this.#zoom);
    this.svg.addEventListener("keydown", (event) => this.#onKey(event));
    void document.fonts.ready.then(() => {
      forgetWidths();
      this.#update();
    });
  }

  /** The buttons for those who do not zoom with a wheel or keys. */
  controls(): HTMLElement {
    const made = (text: string, label: string, act: () => void) => {
      const one = element("button", { type: "button", "aria-label": label, title: label }, text);
      one.addEventListener("click", act);
      return one;
    };
    return element(
      "div",
      { class: "zoom", role: "group", "aria-label": "Zoom" },
      made("+", "Zoom in (+)", () => this.#scale(1.5)),
      made("−", "Zoom out (−)", () => this.#scale(1 / 1.5)),
      made("⤢", "Show all (0)", () => this.fit()),
    );
  }

  /** Draws entities of a graph at their positions. */
  show(graph: Graph, entities: readonly Entity[], chosen: string | undefined): void {
    this.#chosen = chosen;
    this.#pointed = undefined;
    const { width, height } = this.#size;
    const nodes = graph.nodes(entities, width, height);
    const types = graph.types();
    this.#shown = new Map(
      nodes.flatMap((node, index) => {
        const entity = entities[index];
        return entity === undefined ? [] : [[node.name, this.#shownOf(graph, entity, node, types)]];
      }),
    );
    this.#edges = [...graph.relations.values()].flatMap((relation) => {
      const [from, to] = [this.#shown.get(relation.from), this.#shown.get(relation.to)];
      if (from === undefined || to === undefined || from === to) return [];
      const { relationType } = relation;
      const title = svg("title", {}, `${relation.from} ${relationType} ${relation.to}`);
      const line = svg("line", { "marker-end": "url(#arrow)" }, title);
      const label = svg("text", { class: "edge", hidden: "" }, short(relationType));
      return [{ relation, from, to, line, label }];
    });
    const shown = [...this.#shown.values()];
    const first = this.#shown.get(chosen ?? "") ?? shown[0];
    first?.circle.setAttribute("tabindex", "0");
    this.svg.replaceChildren(
      arrow(),
      ...this.#edges.map(({ line }) => line),
      ...shown.map(({ circle }) => circle),
      ...this.#edges.map(({ label }) => label),
      ...shown.map(({ name }) => name),
    );
    if (this.#isMoved) this.#update();
    else this.fit();
  }

  /** Adapts the drawing to its space. */
  resize(width: number, height: number): void {
    if (width === this.#size.width && height === this.#size.height) return;
    this.#size = { width, height };
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.style.height = `${height}px`;
    if (this.#isMoved) this.#update();
    else this.fit();
  }

  /** Shows all entities. */
  fit(): void {
    const { width, height } = this.#size;
    this.#isMoved = false;
    const { left, right, top, bottom } = extentOf(
      [...this.#shown.values()].map(({ node }) => node),
    );
    const inner = { width: width - 2 * MARGIN, height: height - 2 * MARGIN };
    const scale = Math.min(
      inner.width / Math.max(right - left, 1),
      inner.height / Math.max(bottom - top, 1),
      MAX_FIT,
    );
    const transform = zoomIdentity
      .translate(width / 2, height / 2)
      .scale(scale)
      .translate(-(left + right) / 2, -(top + bottom) / 2);
    this.#zoom
      .extent([
        [0, 0],
        [width, height],
      ])
      .scaleExtent([scale / 2, Math.max(scale * 12, 3)]);
    select(this.svg).call(this.#zoom.transform, transform);
  }

  /** Moves the focus to an entity, and the drawing if it is outside. */
  focus(name: string): void {
    const shown = this.#shown.get(name);
    if (shown === undefined) return;
    for (const { circle } of this.#shown.values()) circle.setAttribute("tabindex", "-1");
    shown.circle.setAttribute("tabindex", "0");
    const { x, y } = this.#at(shown);
    const { width, height } = this.#size;
    if (x < 0 || y < 0 || x > width || y > height)
      select(this.svg).call(this.#zoom.translateTo, shown.node.x, shown.node.y);
    shown.circle.focus({ preventScroll: true });
  }

  #scale(by: number): void {
    this.#isMoved = true;
    select(this.svg).call(this.#zoom.scaleBy, by);
  }

  #at({ node }: Shown): { x: number; y: number } {
    const [x, y] = this.#transform.apply([node.x, node.y]);
    return { x, y };
  }

  #shownOf(graph: Graph, entity: Entity, node: Node, types: readonly string[]): Shown {
    const { name, entityType } = entity;
    const degree = graph.relationsOf(name).length;
    const relations = `${degree} ${degree === 1 ? "relation" : "relations"}`;
    const label = [name, ...(entityType === "" ? [] : [entityType]), relations].join(", ");
    const type = types.indexOf(entityType);
    const circle = svg("g", {
      class: type < 0 || type > 7 ? "node" : `node s${type}`,
      role: "button",
      tabindex: -1,
      "aria-label": label,
      "aria-pressed": String(name === this.#chosen),
    });
    const radius = 4 + Math.min(Math.sqrt(degree) * 1.8, 10);
    circle.append(svg("title", {}, label), svg("circle", { r: radius }));
    const text = short(name);
    const shown = {
      node,
      entity,
      radius,
      circle,
      text,
      name: svg("text", { class: "name" }, text),
    };
    const point = (to: string | undefined) => () => {
      this.#pointed = to;
      this.#update();
    };
    circle.addEventListener("pointerenter", point(name));
    circle.addEventListener("pointerleave", point(undefined));
    circle.addEventListener("focus", point(name));
    circle.addEventListener("blur", point(undefined));
    circle.addEventListener("click", () => this.#open(name));
    const moved = drag<SVGGElement, unknown>().on("drag", (event: { dx: number; dy: number }) => {
      node.x += event.dx / this.#transform.k;
      node.y += event.dy / this.#transform.k;
      this.#isMoved = true;
      this.#update();
    });
    select(circle).call(moved);
    return shown;
  }

  #onKey(event: KeyboardEvent): void {
    const { key } = event;
    const current = [...this.#shown.values()].find(({ circle }) => circle === event.target);
    const direction = key in KEYS ? KEYS[key as keyof typeof KEYS] : undefined;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if ((key === "Enter" || key === " ") && current !== undefined) this.#open(current.node.name);
    else if (key === "+" || key === "=") this.#scale(1.5);
    else if (key === "-") this.#scale(1 / 1.5);
    else if (key === "0") this.fit();
    else if (direction !== undefined && current !== undefined) {
      const next = this.#toward(current, direction);
      if (next !== undefined) this.focus(next.node.name);
    } else return;
    event.preventDefault();
  }

  /** The nearest entity in a direction; what is far to the side counts as further away. */
  #toward(current: Shown, [dx, dy]: readonly [number, number]): Shown | undefined {
    const costs = [...this.#shown.values()].flatMap((shown) => {
      const [x, y] = [shown.node.x - current.node.x, shown.node.y - current.node.y];
      const along = x * dx + y * dy;
      return along <= 0.01 ? [] : [{ shown, cost: along + 2 * Math.abs(x * dy + y * dx) }];
    });
    return costs.sort((one, other) => one.cost - other.cost)[0]?.shown;
  }

  /** Sets the positions on the screen. Sizes stay, so that zooming makes space for more names. */
  #update(): void {
    const active = this.#pointed ?? this.#chosen;
    const near = new Set<string>();
    for (const { relation, from, to, line } of this.#edges) {
      const [start, end] = [this.#at(from), this.#at(to)];
      const length = Math.hypot(end.x - start.x, end.y - start.y) || 1;
      // The arrow ends at the circle.
      const rest = (length - to.radius - 2) / length;
      const ends = {
        x1: start.x,
        y1: start.y,
        x2: start.x + (end.x - start.x) * rest,
        y2: start.y + (end.y - start.y) * rest,
      };
      for (const [name, value] of Object.entries(ends)) line.setAttribute(name, value.toFixed(1));
      const isLit = relation.from === active || relation.to === active;
      line.classList.toggle("lit", isLit);
      if (isLit) near.add(relation.from).add(relation.to);
    }
    this.svg.classList.toggle("dimmed", near.size > 0);
    for (const shown of this.#shown.values()) {
      const { x, y } = this.#at(shown);
      shown.circle.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
      shown.circle.classList.toggle("near", near.has(shown.node.name));
    }
    this.#placeLabels(active, near);
  }

  /** Names of the entity that is pointed at and its neighbors first, then its relations, then the best connected. */
  #placeLabels(active: string | undefined, near: ReadonlySet<string>): void {
    const { width, height } = this.#size;
    const labels = new Labels(width, height);
    const rank = ({ node, radius }: Shown) =>
      node.name === active ? 200 : near.has(node.name) ? 100 + radius : radius;
    const byRank = [...this.#shown.values()].sort((one, other) => rank(other) - rank(one));
    for (const shown of byRank) labels.block(this.#at(shown), shown.radius);
    const isFirst = ({ node }: Shown) => node.name === active || near.has(node.name);
    for (const shown of byRank.filter(isFirst))
      this.#placeName(labels, shown, shown.node.name === active);
    for (const { relation, from, to, label } of this.#edges) {
      const isLit = relation.from === active || relation.to === active;
      const [start, end] = [this.#at(from), this.#at(to)];
      const between = (part: number) => ({
        x: start.x + (end.x - start.x) * part,
        y: start.y + (end.y - start.y) * part + RELATION_SIZE / 3,
      });
      const size = { width: widthOf(label.textContent ?? "", RELATION_SIZE), size: RELATION_SIZE };
      set(
        label,
        isLit ? labels.place(size, [0.5, 0.62, 0.38, 0.72, 0.28].map(between)) : undefined,
      );
    }
    for (const shown of byRank.filter((one) => !isFirst(one)))
      this.#placeName(labels, shown, false);
  }

  #placeName(labels: Labels, shown: Shown, isForced: boolean): void {
    const { name, radius, text, node } = shown;
    const { x, y } = this.#at(shown);
    const { width, height } = this.#size;
    const isInside = x >= 0 && y >= 0 && x <= width && y <= height;
    const isBold = node.name === this.#chosen;
    name.classList.toggle("chosen", isBold);
    const size = { width: widthOf(text, NAME_SIZE, isBold), size: NAME_SIZE };
    const side = radius + 4 + size.width / 2;
    const places = [
      { x, y: y + radius + NAME_SIZE + 1 },
      { x, y: y - radius - 4 },
      { x: x + side, y: y + NAME_SIZE / 3 },
      { x: x - side, y: y + NAME_SIZE / 3 },
    ];
    set(name, isInside ? labels.place(size, places, isForced) : undefined);
  }
}

/** Shows a text at a place, or hides it. */
function set(text: SVGTextElement, at: { x: number; y: number } | undefined): void {
  text.toggleAttribute("hidden", at === undefined);
  if (at === undefined) return;
  text.setAttribute("x", at.x.toFixed(1));
  text.setAttribute("y", at.y.toFixed(1));
}

function arrow(): SVGMarkerElement {
  const size = { markerWidth: 6, markerHeight: 6, refX: 10, refY: 5, orient: "auto" };
  return svg(
    "marker",
    { id: "arrow", viewBox: "0 0 10 10", ...size },
    svg("path", { d: "M0 0L10 5L0 10z" }),
  );
}

/** A name on one line, cut. */
function short(text: string): string {
  const characters = [...text.replace(/\s+/g, " ")];
  return characters.length > MAX_NAME
    ? `${characters.slice(0, MAX_NAME - 1).join("")}…`
    : characters.join("");
}
