import { shownRelation } from "../read/page.ts";
import { batches } from "../store/connection.ts";
import type { Reader, Store } from "../store/store.ts";
import { type EntityRow, idsOf, type ObservationRow } from "../types.ts";
import { entityLine, relationLine } from "./jsonl.ts";

const BATCH = 500;

/** The whole current graph as the official server's lines of JSON. */
export function exportLines(store: Store): Promise<string> {
  return store.read(async (reader) => {
    const lines: string[] = [];
    for await (const { entity, facts } of entitiesWithFacts(reader))
      lines.push(entityLine(entity, facts));
    for await (const rows of batches((after, limit) => reader.relationPage(after, limit), BATCH))
      lines.push(...rows.map((row) => relationLine(shownRelation(row))));
    return lines.join("\n");
  });
}

/** The whole current graph as a Markdown document: a section for each entity with a list of its facts and relations. */
export function exportMarkdown(store: Store): Promise<string> {
  return store.read(async (reader) => {
    const sections: string[] = [];
    for await (const { entity, facts } of entitiesWithFacts(reader)) {
      const relations = await reader.relationsOf([entity.id], { column: "from_id" });
      const items = [
        ...facts.map(({ content }) => `- ${onOneLine(content)}\n`),
        ...relations.map(({ type, to }) => `- ${onOneLine(type)} → ${onOneLine(to)}\n`),
      ];
      const heading = `## ${onOneLine(entity.name)} (${onOneLine(entity.type)})\n`;
      sections.push(items.length === 0 ? heading : `${heading}\n${items.join("")}`);
    }
    return `# Memory\n\n${sections.join("\n")}`;
  });
}

async function* entitiesWithFacts(
  reader: Reader,
): AsyncGenerator<{ entity: EntityRow; facts: ObservationRow[] }> {
  for await (const rows of batches((after, limit) => reader.entityPage(after, limit), BATCH)) {
    const facts = new Map<number, ObservationRow[]>(rows.map(({ id }) => [id, []]));
    for (const row of await reader.observationsOf(idsOf(rows))) facts.get(row.entityId)?.push(row);
    for (const entity of rows) yield { entity, facts: facts.get(entity.id) ?? [] };
  }
}

function onOneLine(text: string): string {
  return text.trim().replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
}
