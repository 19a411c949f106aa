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
  /** Whether their center stays at the origin. */
  readonly isCentered?: boolean;
}

/** Sets the positions of nodes. Those that have one start from it, and the same graph gives the same picture. */
export function layOut<Node extends SimulationNodeDatum>(
  nodes: Node[],
  links: SimulationLinkDatum<Node>[],
  { distance, repulsion, reach = Number.POSITIVE_INFINITY, radius, pull, isCentered }: Forces<Node>,
): void {
  forceSimulation(nodes)
    .force("link", forceLink(links).distance(distance))
    .force("charge", forceManyBody().strength(-repulsion).distanceMax(reach))
    .force("collide", forceCollide(radius))
    .force("x", forceX().strength(pull.x))
    .force("y", forceY().strength(pull.y))
    .force("center", isCentered === true ? forceCenter() : null)
    .stop()
    .tick(STEPS);
}
