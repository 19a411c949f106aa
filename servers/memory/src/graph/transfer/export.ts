import { batches } from "../store/connection.ts";
import type { Reader, Store } from "../store/store.ts";
import { type EntityRow, idsOf, type ObservationRow, type Relation } from "../types.ts";
import { entityLine, type Format, relationLine } from "./jsonl.ts";
import type { Link } from "./note.ts";

const BATCH = 1_000;

/**
 * The whole graph as text: `jsonl` is what the official server reads, with times, sources and superseded observations in fields that it ignores, `graphml` opens in Gephi, yEd
 * and Cytoscape, `mermaid` is a flowchart.
 */
export function exportGraph(store: Store, format: TextFormat): Promise<string> {
  return store.read(WRITERS[format]);
}

type TextFormat = Exclude<Format, "markdown">;

/** The whole graph as Markdown notes, one for each entity, with names that are free in one directory. */
export async function exportNotes(
  store: Store,
): Promise<{ readonly path: string; readonly text: string }[]> {
  const { FreeStems } = await import("./note-names.ts");
  const { renderNote } = await import("./note.ts");
  return store.read(async (reader) => {
    const stems = new FreeStems();
    const notes = [];
    for await (const rows of batches((after, limit) => reader.entityPage(after, limit), BATCH)) {
      const texts = await reader.textsOf(idsOf(rows));
      const links = new Map<number, Link[]>();
      for (const { fromId, type, to } of await reader.relationsOf(idsOf(rows), {
        direction: "out",
      }))
        links.set(fromId, [...(links.get(fromId) ?? []), { type, target: to }]);
      for (const { id, name, type } of rows) {
        notes.push({
          path: `${stems.take(name)}.md`,
          text: renderNote(name, type, texts.get(id) ?? [], links.get(id) ?? []),
        });
      }
    }
    return notes;
  });
}

const GRAPHML_HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="type" for="node" attr.name="type" attr.type="string"/>
  <key id="label" for="node" attr.name="label" attr.type="string"/>
  <key id="observations" for="node" attr.name="observations" attr.type="string"/>
  <key id="relation" for="edge" attr.name="relation" attr.type="string"/>
  <graph id="memory" edgedefault="directed">`;

const WRITERS: Readonly<Record<TextFormat, (reader: Reader) => Promise<string>>> = {
  jsonl: async (reader) => (await parts(reader, entityLine, relationLine)).join("\n"),
  graphml: async (reader) => {
    const all = await parts(
      reader,
      ({ name, type }, observations) =>
        `    <node id="${xml(name)}"><data key="label">${xml(name)}</data><data key="type">${xml(type)}</data>` +
        `<data key="observations">${xml(currentTexts(observations).join("\n"))}</data></node>`,
      ({ from, to, relationType }) =>
        `    <edge source="${xml(from)}" target="${xml(to)}"><data key="relation">${xml(relationType)}</data></edge>`,
    );
    return `${[GRAPHML_HEAD, ...all].join("\n")}\n  </graph>\n</graphml>\n`;
  },
  mermaid: async (reader) => {
    const all = await parts(
      reader,
      ({ name, type }) =>
        `  ${mermaidId(name)}["${mermaid(name)} <small>${mermaid(type)}</small>"]`,
      ({ from, to, relationType }) =>
        `  ${mermaidId(from)} -->|"${mermaid(relationType)}"| ${mermaidId(to)}`,
    );
    return `${["flowchart LR", ...all].join("\n")}\n`;
  },
};

const currentTexts = (rows: readonly ObservationRow[]) =>
  rows.flatMap(({ content, supersededAt }) => (supersededAt === null ? [content] : []));

/** All entities, each with its current and superseded observations, and relations as text. */
async function parts(
  reader: Reader,
  entity: (entity: EntityRow, observations: readonly ObservationRow[]) => string,
  relation: (relation: Relation) => string,
): Promise<string[]> {
  const found: string[] = [];
  for await (const rows of batches((after, limit) => reader.entityPage(after, limit), BATCH)) {
    const of = new Map<number, ObservationRow[]>(rows.map(({ id }) => [id, []]));
    for (const row of await reader.observationsOf(idsOf(rows), "kept"))
      of.get(row.entityId)?.push(row);
    for (const row of rows) found.push(entity(row, of.get(row.id) ?? []));
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

/** Escapes text for XML; characters that XML 1.0 forbids (NUL, most control characters) become U+FFFD. */
function xml(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that XML forbids.
  const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
  const named: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
  };
  const valid = text.toWellFormed().replace(forbidden, "\ufffd");
  return valid.replace(/[&<>"\n\r\t]/g, (found) => named[found] ?? `&#${found.charCodeAt(0)};`);
}
