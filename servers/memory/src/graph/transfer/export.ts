import { batches } from "../store/connection.ts";
import type { Reader, Store } from "../store/store.ts";
import { type Entity, idsOf, type Relation } from "../types.ts";
import { entityLine, type Format, relationLine } from "./jsonl.ts";
import { xml } from "./xml.ts";

const BATCH = 1_000;

/**
 * The whole graph as text: `jsonl` is byte for byte what the official server writes, `graphml` opens in Gephi, yEd
 * and Cytoscape, `mermaid` is a flowchart, `svg` is a picture (of the most connected entities, if there are many).
 */
export function exportGraph(store: Store, format: Format): Promise<string> {
  return store.read(WRITERS[format]);
}

const GRAPHML_HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="type" for="node" attr.name="type" attr.type="string"/>
  <key id="label" for="node" attr.name="label" attr.type="string"/>
  <key id="observations" for="node" attr.name="observations" attr.type="string"/>
  <key id="relation" for="edge" attr.name="relation" attr.type="string"/>
  <graph id="memory" edgedefault="directed">`;

const WRITERS: Readonly<Record<Format, (reader: Reader) => Promise<string>>> = {
  jsonl: async (reader) => (await parts(reader, entityLine, relationLine)).join("\n"),
  graphml: async (reader) => {
    const all = await parts(
      reader,
      ({ name, entityType, observations }) =>
        `    <node id="${xml(name)}"><data key="label">${xml(name)}</data><data key="type">${xml(entityType)}</data>` +
        `<data key="observations">${xml(observations.join("\n"))}</data></node>`,
      ({ from, to, relationType }) =>
        `    <edge source="${xml(from)}" target="${xml(to)}"><data key="relation">${xml(relationType)}</data></edge>`,
    );
    return `${[GRAPHML_HEAD, ...all].join("\n")}\n  </graph>\n</graphml>\n`;
  },
  mermaid: async (reader) => {
    const all = await parts(
      reader,
      ({ name, entityType }) =>
        `  ${mermaidId(name)}["${mermaid(name)} <small>${mermaid(entityType)}</small>"]`,
      ({ from, to, relationType }) => `  ${mermaidId(from)} -->|"${mermaid(relationType)}"| ${mermaidId(to)}`,
    );
    return `${["flowchart LR", ...all].join("\n")}\n`;
  },
  // Includes the layout library, which only pictures need.
  svg: async (reader) => (await import("./picture.ts")).drawGraph(reader),
};

/** All entities and relations as text. */
async function parts(
  reader: Reader,
  entity: (entity: Entity) => string,
  relation: (relation: Relation) => string,
): Promise<string[]> {
  const found: string[] = [];
  for await (const rows of batches((after, limit) => reader.entityPage(after, limit), BATCH)) {
    const texts = await reader.textsOf(idsOf(rows));
    for (const { id, name, type } of rows)
      found.push(entity({ name, entityType: type, observations: texts.get(id) ?? [] }));
  }
  for await (const rows of batches((after, limit) => reader.relationPage(after, limit), BATCH))
    for (const { from, to, type } of rows) found.push(relation({ from, to, relationType: type }));
  return found;
}

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
