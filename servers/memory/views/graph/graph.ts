// The part of a memory that a view has loaded, and the positions of its entities.

export interface Entity {
  readonly name: string;
  readonly entityType: string;
  readonly observations?: readonly string[];
  readonly learned?: readonly string[];
}

export interface Relation {
  readonly from: string;
  readonly to: string;
  readonly relationType: string;
}

/** The answer of the tools that read a memory. */
export interface Answer {
  readonly entities: readonly Entity[];
  readonly relations?: readonly Relation[];
  readonly next_cursor?: string;
}

export interface Point {
  x: number;
  y: number;
}

/** An entity that is only known from relations has no type until it is opened. */
const UNSEEN = "";

/** Entities and relations, from one answer or several. */
export class Graph {
  readonly entities = new Map<string, Entity>();
  readonly relations = new Map<string, Relation>();
  readonly #places = new Map<string, Point>();

  add({ entities, relations = [] }: Answer): void {
    for (const entity of entities) {
      const known = this.entities.get(entity.name);
      this.entities.set(entity.name, { ...known, ...entity });
    }
    for (const relation of relations) {
      this.relations.set(JSON.stringify([relation.from, relation.relationType, relation.to]), relation);
      for (const name of [relation.from, relation.to])
        if (!this.entities.has(name)) this.entities.set(name, { name, entityType: UNSEEN });
    }
  }

  /** The relations of an entity, both ways. */
  relationsOf(name: string): Relation[] {
    return [...this.relations.values()].filter(({ from, to }) => from === name || to === name);
  }

  /** Entity types, most frequent first. */
  types(): string[] {
    const counts = new Map<string, number>();
    for (const { entityType } of this.entities.values())
      if (entityType !== UNSEEN) counts.set(entityType, (counts.get(entityType) ?? 0) + 1);
    return [...counts].sort((one, other) => other[1] - one[1]).map(([type]) => type);
  }

  /** The entities to draw: those with the most relations, and always `chosen`. */
  most(count: number, chosen: string | undefined): Entity[] {
    const degree = new Map<string, number>();
    for (const { from, to } of this.relations.values())
      for (const name of [from, to]) degree.set(name, (degree.get(name) ?? 0) + 1);
    const rank = ({ name }: Entity) => (name === chosen ? Number.POSITIVE_INFINITY : (degree.get(name) ?? 0));
    return [...this.entities.values()].sort((one, other) => rank(other) - rank(one)).slice(0, count);
  }

  /**
   * Positions for entities: related ones attract each other, all others repel (Fruchterman and Reingold). Entities that already
   * have a position start from it.
   */
  places(entities: readonly Entity[], width: number, height: number): Map<string, Point> {
    const nodes = entities.map(({ name }, index) => {
      // A spiral puts no two in the same place, and looks the same each time.
      const far = Math.sqrt(index + 0.5) * 24;
      const start = { x: far * Math.cos(index * 2.4), y: far * Math.sin(index * 2.4) };
      return { name, at: { ...(this.#places.get(name) ?? start) }, push: { x: 0, y: 0 } };
    });
    const index = new Map(nodes.map((node) => [node.name, node]));
    const edges = [...this.relations.values()].flatMap(({ from, to }) => {
      const [one, other] = [index.get(from), index.get(to)];
      return one === undefined || other === undefined || one === other ? [] : [[one, other] as const];
    });
    const wanted = Math.sqrt((width * height) / Math.max(nodes.length, 1)) * 0.8;
    for (let heat = wanted; heat > 1; heat *= 0.96) {
      for (const node of nodes) {
        // A weak pull to the center keeps unconnected entities from drifting away.
        node.push = { x: -node.at.x * 0.12, y: -node.at.y * 0.2 };
        for (const other of nodes) if (other !== node) force(node, other, (far) => (wanted * wanted) / far);
      }
      for (const [one, other] of edges) {
        force(one, other, (far) => -(far * far) / wanted);
        force(other, one, (far) => -(far * far) / wanted);
      }
      for (const { at, push } of nodes) {
        const length = Math.hypot(push.x, push.y) || 1;
        at.x += (push.x / length) * Math.min(length, heat);
        at.y += (push.y / length) * Math.min(length, heat);
      }
    }
    for (const { name, at } of nodes) this.#places.set(name, at);
    return fitted(nodes, width, height);
  }
}

interface Node {
  readonly name: string;
  readonly at: Point;
  readonly push: Point;
}

/** Pushes a node away from another one, or towards it if the strength is negative. */
function force({ at, push }: Node, other: Node, strength: (far: number) => number): void {
  const x = at.x - other.at.x;
  const y = at.y - other.at.y;
  const far = Math.max(Math.hypot(x, y), 1);
  push.x += (x / far) * strength(far);
  push.y += (y / far) * strength(far);
}

function fitted(nodes: readonly Node[], width: number, height: number): Map<string, Point> {
  const [xs, ys] = [nodes.map(({ at }) => at.x), nodes.map(({ at }) => at.y)];
  const along = (value: number, all: readonly number[], size: number) => {
    const [least, most] = [Math.min(...all), Math.max(...all)];
    // A few entities stay close together instead of being drawn to the edges.
    const span = Math.max(most - least, size / 2);
    return size / 2 + ((value - (least + most) / 2) / span) * size;
  };
  return new Map(
    nodes.map(({ name, at }) => [name, { x: along(at.x, xs, width), y: along(at.y, ys, height) }]),
  );
}
