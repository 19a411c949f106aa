// The part of a memory that a view has loaded, and the positions of its entities.

import type { SimulationNodeDatum } from "d3-force";
import { layOut } from "../../src/graph/transfer/layout.ts";

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
  /** The size of the whole memory, where the answer is a page of it. */
  readonly total?: { readonly entities: number; readonly relations: number };
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
  #total: Answer["total"];
  readonly #places = new Map<string, Point>();

  add({ entities, relations = [], total }: Answer): void {
    this.#total = total ?? this.#total;
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

  /** A sentence about what is loaded, and what of it is drawn. */
  summary(drawn: number): string {
    const [entities, relations] = [this.entities.size, this.relations.size];
    const total = this.#total;
    const counted = (count: number, all: number | undefined, one: string, many: string) =>
      `${count}${all !== undefined && all > count ? ` of ${all}` : ""} ${(all ?? count) === 1 ? one : many}`;
    const loaded = `${counted(entities, total?.entities, "entity", "entities")}, ${counted(relations, total?.relations, "relation", "relations")}`;
    if (drawn === entities) return `${loaded}.`;
    return relations === 0
      ? `${loaded}; ${drawn} of these entities are drawn.`
      : `${loaded}; the ${drawn} entities with the most of these relations are drawn.`;
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
   * Positions for entities: related ones attract each other, all others repel. Entities that already have a position start from
   * it, and the same graph gives the same picture.
   */
  places(entities: readonly Entity[], width: number, height: number): Map<string, Point> {
    const nodes = entities.map(({ name }): Node => ({ name, ...this.#places.get(name) }));
    const known = new Map(nodes.map((node) => [node.name, node]));
    const links = [...this.relations.values()].flatMap(({ from, to }) => {
      const [source, target] = [known.get(from), known.get(to)];
      return source === undefined || target === undefined || source === target ? [] : [{ source, target }];
    });
    // Unconnected entities stay close, so that they leave the space to the others.
    const pull = 0.08;
    layOut(nodes, links, {
      distance: DISTANCE,
      repulsion: DISTANCE * 4,
      reach: DISTANCE * 4,
      radius: () => DISTANCE / 2.5,
      pull: { x: (pull * height) / width, y: (pull * width) / height },
    });
    const placed = nodes.map(({ name, x = 0, y = 0 }) => ({ name, at: { x, y } }));
    for (const { name, at } of placed) this.#places.set(name, at);
    return fitted(placed, width, height);
  }
}

/** The wanted distance between related entities, before the drawing is scaled. */
const DISTANCE = 60;

interface Node extends SimulationNodeDatum {
  readonly name: string;
}

function fitted(
  nodes: readonly { name: string; at: Point }[],
  width: number,
  height: number,
): Map<string, Point> {
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
