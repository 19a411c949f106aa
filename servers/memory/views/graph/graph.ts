// The part of a memory that a view has loaded, and the positions of its entities.
import type { SimulationNodeDatum } from "d3-force";
import { layOut } from "./layout.ts";

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
  /** The size of the whole memory where the answer is a page of it; a search has a number. */
  readonly total?: { readonly entities: number; readonly relations: number } | number;
  readonly next_cursor?: string;
}

/** An entity with its position. */
export interface Node extends SimulationNodeDatum {
  readonly name: string;
  x: number;
  y: number;
}

/** An entity that is only known from relations has no type until it is opened. */
const UNSEEN = "";

/** Entities and relations, from one answer or several. */
export class Graph {
  readonly entities = new Map<string, Entity>();
  readonly relations = new Map<string, Relation>();
  readonly #related = new Map<string, Relation[]>();
  readonly #nodes = new Map<string, Node>();
  readonly #types: string[] = [];
  #total: { readonly entities: number; readonly relations: number } | undefined;

  add({ entities, relations = [], total }: Answer): void {
    if (typeof total === "object") this.#total = total;
    const add = (entity: Entity) =>
      this.entities.set(entity.name, { ...this.entities.get(entity.name), ...entity });
    for (const entity of entities) add(entity);
    for (const relation of relations) {
      const key = JSON.stringify([relation.from, relation.relationType, relation.to]);
      if (this.relations.has(key)) continue;
      this.relations.set(key, relation);
      for (const name of new Set([relation.from, relation.to])) {
        if (!this.entities.has(name)) add({ name, entityType: UNSEEN });
        this.#related.set(name, [...(this.#related.get(name) ?? []), relation]);
      }
    }
  }

  /** A sentence about what is loaded, and what of it is drawn. */
  summary(drawn: number): string {
    const [entities, relations] = [this.entities.size, this.relations.size];
    const [all, total] = [this.#total?.entities ?? entities, this.#total?.relations ?? relations];
    const counted = (count: number, all: number, one: string, many: string) =>
      `${count}${all > count ? ` of ${all}` : ""} ${Math.max(all, count) === 1 ? one : many}`;
    const among = counted(relations, total, "relation", "relations");
    const loaded = `${counted(entities, all, "entity", "entities")}, ${among}`;
    return drawn === entities
      ? `${loaded}.`
      : `${loaded}; the ${drawn} with the most of these relations are drawn.`;
  }

  /** The relations of an entity, both ways. */
  relationsOf(name: string): readonly Relation[] {
    return this.#related.get(name) ?? [];
  }

  /** Entity types, the most frequent first; later ones follow, so that a type keeps its color. */
  types(): readonly string[] {
    const counts = new Map<string, number>();
    for (const { entityType } of this.entities.values())
      if (entityType !== UNSEEN) counts.set(entityType, (counts.get(entityType) ?? 0) + 1);
    const added = [...counts].filter(([type]) => !this.#types.includes(type));
    this.#types.push(...added.sort((one, other) => other[1] - one[1]).map(([type]) => type));
    return this.#types;
  }

  /** The entities to draw, best connected first, and always `chosen`. */
  most(count: number, chosen: string | undefined): Entity[] {
    const rank = ({ name }: Entity) =>
      name === chosen ? Number.POSITIVE_INFINITY : this.relationsOf(name).length;
    return [...this.entities.values()]
      .sort((one, other) => rank(other) - rank(one))
      .slice(0, count);
  }

  /** Positions for entities in a drawing of this shape. Those that already have one start from it. */
  nodes(entities: readonly Entity[], width: number, height: number): Node[] {
    const nodes = entities.map(({ name }) => this.#nodes.get(name) ?? ({ name } as Node));
    for (const node of nodes) this.#nodes.set(node.name, node);
    const drawn = new Set(nodes);
    const links = [...this.relations.values()].flatMap(({ from, to }) => {
      const [source, target] = [this.#nodes.get(from), this.#nodes.get(to)];
      if (source === undefined || target === undefined || source === target) return [];
      return drawn.has(source) && drawn.has(target) ? [{ source, target }] : [];
    });
    layOut(nodes, links, width, height);
    return nodes;
  }
}
