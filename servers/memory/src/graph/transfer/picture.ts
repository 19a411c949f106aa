import { grouped } from "@refmcp/boundary/answer";
import type { SimulationLinkDatum, SimulationNodeDatum } from "d3-force";
import { relationsAmong } from "../read/listing.ts";
import { counted } from "../read/names.ts";
import type { Reader } from "../store/store.ts";
import type { Counts, EntityRow, RelationRow } from "../types.ts";
import { extentOf, layOut } from "./layout.ts";
import { xml } from "./xml.ts";

/** More entities than this are indistinguishable in a picture. */
const MAX_NODES = 150;
const MAX_LABELED_EDGES = 80;
const LABEL = 28;
/** Colors distinguishable with any color vision (Okabe and Ito, 2008). */
const COLORS = "#0072b2 #e69f00 #009e73 #cc79a7 #56b4e9 #d55e00 #8c6d31".split(" ");
const OTHER = "#666666";

interface Node extends SimulationNodeDatum {
  readonly entity: EntityRow;
  readonly degree: number;
  readonly radius: number;
}

interface Edge extends SimulationLinkDatum<Node> {
  readonly source: Node;
  readonly target: Node;
  readonly labels: string[];
}

/**
 * A picture of the graph as SVG with a force-directed layout (d3-force): the same graph gives the same picture. Of a
 * large graph, only the most connected entities are drawn. It contains no script and loads nothing.
 */
export async function drawGraph(reader: Reader): Promise<string> {
  const total = await reader.counts();
  const degrees = await reader.degrees(MAX_NODES);
  const rows = await reader.entitiesById(degrees.map(({ entityId }) => entityId));
  const nodes = degrees
    .flatMap(({ entityId, degree }): Node[] => {
      const entity = rows.get(entityId);
      return entity === undefined
        ? []
        : [{ entity, degree, radius: 7 + Math.min(14, Math.sqrt(degree) * 3) }];
    })
    .sort((a, b) => a.entity.id - b.entity.id);
  const known = new Set(rows.keys());
  const relations = await relationsAmong(reader, [...known], known, { after: 0, limit: 5_000 });
  const edges = edgesBetween(nodes, relations);
  layOut(nodes, edges, {
    distance: 150,
    repulsion: 520,
    radius: ({ radius, entity }) => radius + 20 + short(entity.name).length * 1.8,
    pull: { x: 0.06, y: 0.09 },
    cell: { width: 170, height: 56 },
  });
  return svg(nodes, edges, total);
}

/** One line for each pair of entities, with the types of all its relations. */
function edgesBetween(nodes: readonly Node[], relations: readonly RelationRow[]): Edge[] {
  const byId = new Map(nodes.map((node) => [node.entity.id, node]));
  const edges = new Map<string, Edge>();
  for (const { fromId, toId, type } of relations) {
    const source = byId.get(fromId);
    const target = byId.get(toId);
    if (source === undefined || target === undefined || source === target) continue;
    const edge = edges.get(`${fromId} ${toId}`) ?? { source, target, labels: [] };
    edge.labels.push(type);
    edges.set(`${fromId} ${toId}`, edge);
  }
  return [...edges.values()];
}

/** A color for each of the most frequent types. */
function colorsOf(nodes: readonly Node[]): Map<string, string> {
  const counts = new Map<string, number>();
  for (const { entity } of nodes) counts.set(entity.type, (counts.get(entity.type) ?? 0) + 1);
  const order = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  return new Map(
    order.slice(0, COLORS.length).map(([type], index) => [type, COLORS[index] ?? OTHER]),
  );
}

function svg(nodes: readonly Node[], edges: readonly Edge[], total: Counts): string {
  const colors = colorsOf(nodes);
  const extent = extentOf(nodes);
  const left = Math.min(0, extent.left) - 120;
  const top = Math.min(0, extent.top) - 90;
  const width = Math.max(0, extent.right) + 120 - left;
  const height = Math.max(0, extent.bottom) + 60 - top;
  const { entities, relations } = total;
  const shown =
    nodes.length < entities
      ? `the ${grouped(nodes.length)} most connected of ${grouped(entities)} entities`
      : counted({ entities, relations });
  const labeled = edges.length <= MAX_LABELED_EDGES;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${[left, top, width, height].map(round).join(" ")}" width="${round(width)}" height="${round(height)}" font-family="system-ui, sans-serif" font-size="12">`,
    `<title>Memory: ${shown}</title>`,
    '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 10 5 0 10z" fill="#8a8f98"/></marker></defs>',
    `<rect x="${round(left)}" y="${round(top)}" width="${round(width)}" height="${round(height)}" fill="#ffffff"/>`,
    ...edges.map((edge) => edgeSvg(edge, labeled)),
    ...nodes.map((node) => nodeSvg(node, colors.get(node.entity.type) ?? OTHER)),
    legend(left, top, colors, shown),
    "</svg>\n",
  ].join("\n");
}

function edgeSvg({ source, target, labels }: Edge, labeled: boolean): string {
  const { x: x1 = 0, y: y1 = 0 } = source;
  const { x: x2 = 0, y: y2 = 0 } = target;
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  // Slightly to the right of the straight line, so that relations in both directions do not overlap.
  const [sx, sy] = [-dy * 4, dx * 4];
  const start = `${round(x1 + sx + dx * source.radius)} ${round(y1 + sy + dy * source.radius)}`;
  const end = `${round(x2 + sx - dx * (target.radius + 3))} ${round(y2 + sy - dy * (target.radius + 3))}`;
  const title = `${source.entity.name} ${labels.join(", ")} ${target.entity.name}`;
  const path = `<path d="M${start} L${end}" stroke="#8a8f98" stroke-width="1.2" fill="none" marker-end="url(#arrow)"><title>${xml(title.slice(0, 300))}</title></path>`;
  if (!labeled) return path;
  const [mx, my] = [x1 + (x2 - x1) * 0.45 - dy * 12, y1 + (y2 - y1) * 0.45 + dx * 12 + 3];
  return `${path}<text x="${round(mx)}" y="${round(my)}" text-anchor="middle" font-size="10" fill="#5b616b" stroke="#ffffff" stroke-width="3" paint-order="stroke">${xml(short(labels.join(", ")))}</text>`;
}

function nodeSvg({ entity, radius, x = 0, y = 0 }: Node, color: string): string {
  return (
    `<g><circle cx="${round(x)}" cy="${round(y)}" r="${round(radius)}" fill="${color}"><title>${xml(`${entity.name.slice(0, 300)} (${entity.type})`)}</title></circle>` +
    `<text x="${round(x)}" y="${round(y + radius + 14)}" text-anchor="middle" fill="#1d2127" stroke="#ffffff" stroke-width="3" paint-order="stroke">${xml(short(entity.name))}</text></g>`
  );
}

function legend(
  left: number,
  top: number,
  colors: ReadonlyMap<string, string>,
  shown: string,
): string {
  const head = `<text x="${round(left + 16)}" y="${round(top + 24)}" font-size="14" font-weight="600" fill="#1d2127">Memory: ${shown}</text>`;
  let x = left + 16;
  const entries = [...colors].map(([type, color]) => {
    const entry = `<circle cx="${round(x + 6)}" cy="${round(top + 42)}" r="6" fill="${color}"/><text x="${round(x + 18)}" y="${round(top + 46)}" fill="#1d2127">${xml(short(type))}</text>`;
    x += 34 + short(type).length * 7;
    return entry;
  });
  return [head, ...entries].join("\n");
}

/** A label, on one line and truncated. */
function short(text: string): string {
  const line = text.slice(0, 200).replace(/\s+/g, " ").toWellFormed();
  const characters = [...line];
  return characters.length <= LABEL ? line : `${characters.slice(0, LABEL - 1).join("")}…`;
}

/** One decimal is less than a pixel, and the same on every machine. */
function round(value: number): string {
  return value.toFixed(1).replace(/\.0$/, "").replace(/^-0$/, "0");
}
