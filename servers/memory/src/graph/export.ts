import { batches } from "./batches.ts";
import { entityLine, type Format, relationLine } from "./jsonl.ts";
import type { Reader, Store } from "./store.ts";
import type { Entity, Relation } from "./types.ts";
import { xml } from "./xml.ts";

const BATCH = 1_000;

/** Entities with their observations in the order of their creation, in batches. */
export async function* entitiesOf(reader: Reader): AsyncGenerator<Entity[]> {
  for await (const rows of batches((after, limit) => reader.entityPage(after, limit), BATCH)) {
    const texts = new Map<number, string[]>(rows.map(({ id }) => [id, []]));
    for (const { entityId, content } of await reader.observationsOf([...texts.keys()]))
      texts.get(entityId)?.push(content);
    yield rows.map(({ id, name, type }) => ({ name, entityType: type, observations: texts.get(id) ?? [] }));
  }
}

/** Relations in the order of their creation, in batches. */
export async function* relationsOf(reader: Reader): AsyncGenerator<Relation[]> {
  for await (const rows of batches((after, limit) => reader.relationPage(after, limit), BATCH))
    yield rows.map(({ from, to, type }) => ({ from, to, relationType: type }));
}

/**
 * The whole graph as text: `jsonl` is byte for byte what the official server writes, `graphml` opens in Gephi, yEd
 * and Cytoscape, `mermaid` is a flowchart, `svg` is a picture (of the most connected entities, if there are many).
 */
export function exportGraph(store: Store, format: Format): Promise<string> {
  return store.read(async (reader) => {
    // Includes the layout library, which only pictures need.
    if (format === "svg") return (await import("./picture.ts")).drawGraph(reader);
    const parts: string[] = [];
    const writer = WRITERS[format];
    for await (const batch of entitiesOf(reader)) {
      for (const entity of batch) parts.push(writer.entity(entity));
    }
    for await (const batch of relationsOf(reader)) {
      for (const relation of batch) parts.push(writer.relation(relation));
    }
    return writer.join(parts);
  });
}

interface FormatWriter {
  entity(entity: Entity): string;
  relation(relation: Relation): string;
  join(parts: readonly string[]): string;
}

const GRAPHML_HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="type" for="node" attr.name="type" attr.type="string"/>
  <key id="label" for="node" attr.name="label" attr.type="string"/>
  <key id="observations" for="node" attr.name="observations" attr.type="string"/>
  <key id="relation" for="edge" attr.name="relation" attr.type="string"/>
  <graph id="memory" edgedefault="directed">`;

const WRITERS: Readonly<Record<Exclude<Format, "svg">, FormatWriter>> = {
  jsonl: { entity: entityLine, relation: relationLine, join: (parts) => parts.join("\n") },
  graphml: {
    entity: ({ name, entityType, observations }) =>
      `    <node id="${xml(name)}"><data key="label">${xml(name)}</data><data key="type">${xml(entityType)}</data>` +
      `<data key="observations">${xml(observations.join("\n"))}</data></node>`,
    relation: ({ from, to, relationType }) =>
      `    <edge source="${xml(from)}" target="${xml(to)}"><data key="relation">${xml(relationType)}</data></edge>`,
    join: (parts) => `${[GRAPHML_HEAD, ...parts].join("\n")}\n  </graph>\n</graphml>\n`,
  },
  mermaid: {
    entity: ({ name, entityType }) =>
      `  ${mermaidId(name)}["${mermaid(name)} <small>${mermaid(entityType)}</small>"]`,
    relation: ({ from, to, relationType }) =>
      `  ${mermaidId(from)} -->|"${mermaid(relationType)}"| ${mermaidId(to)}`,
    join: (parts) => `${["flowchart LR", ...parts].join("\n")}\n`,
  },
};

/** An id derived from a name, always the same for the same name. */
function mermaidId(name: string): string {
  return `n${Buffer.from(name, "utf8").toString("hex").slice(0, 400)}`;
}

/** Text in a Mermaid label: special characters are written as codes. */
function mermaid(text: string): string {
  return text
    .slice(0, 200)
    .toWellFormed()
    .replace(/[^\p{L}\p{N} .,:'/+-]/gu, (found) => `#${found.codePointAt(0) ?? 32};`);
}
