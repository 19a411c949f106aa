import { batches } from "../store/batches.ts";
import type { Store } from "../store/store.ts";
import { type Entity, idsOf, type Relation } from "../types.ts";
import { entityLine, type Format, relationLine } from "./jsonl.ts";
import { xml } from "./xml.ts";

const BATCH = 1_000;

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
    for await (const rows of batches((after, limit) => reader.entityPage(after, limit), BATCH)) {
      const texts = await reader.textsOf(idsOf(rows));
      for (const { id, name, type } of rows)
        parts.push(writer.entity({ name, entityType: type, observations: texts.get(id) ?? [] }));
    }
    for await (const rows of batches((after, limit) => reader.relationPage(after, limit), BATCH))
      for (const { from, to, type } of rows) parts.push(writer.relation({ from, to, relationType: type }));
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
