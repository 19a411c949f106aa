import {
  forceCenter,
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationLinkDatum,
  type SimulationNodeDatum,
} from "d3-force";

const STEPS = 300;

/** How a graph is drawn: related nodes attract each other, all others repel. */
interface Forces<Node> {
  /** The wanted distance between related nodes. */
  readonly distance: number;
  readonly repulsion: number;
  /** Beyond this distance, nodes do not repel each other. */
  readonly reach?: number;
  /** How near another node may come. */
  readonly radius: (node: Node) => number;
  /** How strongly nodes are pulled to the middle, along each axis. */
  readonly pull: { readonly x: number; readonly y: number };
  /** The space for each node without relations; they are in a block in a corner. */
  readonly cell: { readonly width: number; readonly height: number };
}

/** A relation between two nodes, which are resolved already. */
type Link<Node extends SimulationNodeDatum> = SimulationLinkDatum<Node> &
  Record<"source" | "target", Node>;

/** Sets the positions of nodes. Those that have one start from it, and the same graph gives the same picture. */
export function layOut<Node extends SimulationNodeDatum>(
  nodes: readonly Node[],
  links: Link<Node>[],
  { distance, repulsion, reach = Number.POSITIVE_INFINITY, radius, pull, cell }: Forces<Node>,
): void {
  const ends = new Set(links.flatMap(({ source, target }) => [source, target]));
  const related = nodes.filter((node) => ends.has(node));
  forceSimulation(related)
    .force("link", forceLink(links).distance(distance))
    .force("charge", forceManyBody().strength(-repulsion).distanceMax(reach))
    .force("collide", forceCollide(radius))
    .force("x", forceX().strength(pull.x))
    .force("y", forceY().strength(pull.y))
    .force("center", forceCenter())
    .stop()
    .tick(STEPS);
  const { left, bottom } = extentOf(related);
  const lone = nodes.filter((node) => !ends.has(node));
  // Twice as wide as high.
  const columns = Math.ceil(Math.sqrt((2 * lone.length * cell.height) / cell.width));
  for (const [index, node] of lone.entries()) {
    node.x = left + (0.5 + (index % columns)) * cell.width;
    node.y = bottom + (1.5 + Math.floor(index / columns)) * cell.height;
  }
}

/** The rectangle around nodes; a point if there are none. */
export function extentOf(nodes: readonly SimulationNodeDatum[]) {
  const [xs, ys] = [nodes.map(({ x = 0 }) => x), nodes.map(({ y = 0 }) => y)];
  if (nodes.length === 0) return { left: 0, right: 0, top: 0, bottom: 0 };
  return {
    left: Math.min(...xs),
    right: Math.max(...xs),
    top: Math.min(...ys),
    bottom: Math.max(...ys),
  };
}
