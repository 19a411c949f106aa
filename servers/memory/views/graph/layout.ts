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
/** The wanted distance between related entities, before the drawing is scaled. */
const DISTANCE = 60;
/** How strongly entities are pulled to the middle. */
const PULL = 0.08;

/** A relation between two entities, which are resolved already. */
type Link<Node extends SimulationNodeDatum> = SimulationLinkDatum<Node> &
  Record<"source" | "target", Node>;

/**
 * Sets the positions of entities in a drawing of this shape: related ones attract each other, all others repel, and those without
 * relations are in a block in a corner. Those that have a position start from it, and the same graph gives the same drawing.
 */
export function layOut<Node extends SimulationNodeDatum>(
  nodes: readonly Node[],
  links: Link<Node>[],
  width: number,
  height: number,
): void {
  const ends = new Set(links.flatMap(({ source, target }) => [source, target]));
  const related = nodes.filter((node) => ends.has(node));
  forceSimulation(related)
    .force("link", forceLink(links).distance(DISTANCE))
    .force(
      "charge",
      forceManyBody()
        .strength(-4 * DISTANCE)
        .distanceMax(6 * DISTANCE),
    )
    .force("collide", forceCollide(DISTANCE / 2.5))
    .force("x", forceX().strength((PULL * height) / width))
    .force("y", forceY().strength((PULL * width) / height))
    .force("center", forceCenter())
    .stop()
    .tick(STEPS);
  const { left, bottom } = extentOf(related);
  const lone = nodes.filter((node) => !ends.has(node));
  // Twice as wide as high.
  const columns = Math.ceil(Math.sqrt(2 * lone.length));
  for (const [index, node] of lone.entries()) {
    node.x = left + ((0.5 + (index % columns)) * DISTANCE) / 2;
    node.y = bottom + ((1.5 + Math.floor(index / columns)) * DISTANCE) / 2;
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
