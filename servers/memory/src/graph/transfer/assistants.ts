import { ToolError } from "@refmcp/boundary/answer";
import { textProblem } from "../change/change.ts";
import type { ImportedFact, Parsed } from "./jsonl.ts";

/** The entity that memories of an assistant about its user go to. */
const USER = { name: "User", entityType: "person" } as const;

type Fields = Readonly<Record<string, unknown>>;

/**
 * The memories in a JSON document of an assistant: Claude's `memories.json` (`conversations_memory` is a text, `project_memories`
 * one for each project), ChatGPT's saved memories (a list of objects with a text, or of texts). Undefined for other documents.
 *
 * @throws ToolError `invalid` for an export's chats, which are not memories.
 */
export function assistantMemories(
  document: unknown,
  projectNames: ReadonlyMap<string, string>,
): Parsed[] | undefined {
  const fields = isFields(document) ? document : {};
  const list = Array.isArray(document)
    ? document
    : Array.isArray(fields.memories)
      ? fields.memories
      : [document];
  const items = list.filter(isFields);
  if (items.some((item) => "mapping" in item || "chat_messages" in item))
    throw new ToolError(
      "invalid",
      "The file holds chats, which are not memories. Nothing was imported.",
      {
        hint: "Import memories.json of Claude's export. For ChatGPT, copy the saved memories from its settings to a .txt file, one on each line, and import that.",
      },
    );
  if (items.some((item) => "conversations_memory" in item || "project_memories" in item))
    return items.flatMap((item) => claudeMemories(item, projectNames));
  const texts = list.flatMap((item) => savedMemory(item) ?? []);
  if (list.length === 0 || texts.length < list.length) return undefined;
  return [userEntity(texts)];
}

function claudeMemories(
  { conversations_memory: about, project_memories: projects }: Fields,
  names: ReadonlyMap<string, string>,
): Parsed[] {
  const named = Object.entries(isFields(projects) ? projects : {}).flatMap(([id, text]) =>
    typeof text === "string" && text.trim() !== ""
      ? [
          {
            name: names.get(id) ?? `Claude project ${id}`,
            entityType: "project",
            facts: paragraphsOf(text),
          },
        ]
      : [],
  );
  const user =
    typeof about === "string" && about.trim() !== "" ? [userEntity(paragraphsOf(about))] : [];
  return [...user, ...named.map((entity) => ({ kind: "entity", entity }) as const)];
}

function userEntity(facts: readonly ImportedFact[]): Parsed {
  return { kind: "entity", entity: { ...USER, facts } };
}

/** The paragraphs and list items of a text, each with the bold heading or heading above it as its category. */
function paragraphsOf(text: string): ImportedFact[] {
  let category = "";
  return text.split(/\r?\n/u).flatMap((raw) => {
    const line = raw.trim();
    const heading = /^(?:#{1,6}\s+(.+?)|\*\*([^*]+?):?\*\*:?)$/u.exec(line);
    if (heading) category = (heading[1] ?? heading[2] ?? "").replace(/[[\]()]/gu, "").trim();
    const content = line.replace(/^(?:[-*+•]|\d+[.)])\s+/u, "");
    if (heading || content === "") return [];
    return factOf(category === "" ? content : `[${category}] ${content}`) ?? [];
  });
}

const TEXT_FIELDS = ["content", "memory", "text", "value"] as const;
const TIME_FIELDS = ["created_at", "updated_at", "create_time", "createdAt"] as const;

function savedMemory(item: unknown): ImportedFact | undefined {
  if (typeof item === "string") return factOf(item);
  if (!isFields(item) || "type" in item || "entityType" in item) return undefined;
  const text = TEXT_FIELDS.map((field) => item[field]).find((value) => typeof value === "string");
  const time = TIME_FIELDS.map((field) => item[field]).find(
    (value) => value !== undefined && value !== null,
  );
  return typeof text === "string" ? factOf(text, timeOf(time)) : undefined;
}

/**
 * Memories that were copied as text, one on each line, maybe as a list and with dates, as Claude's prompt for moving memories makes
 * them: `[2026-01-31] - prefers short answers`.
 */
export function copiedMemories(text: string): Parsed {
  const facts = text.split(/\r?\n/u).flatMap((raw) => {
    const line = raw.trim().replace(/^(?:[-*+•]|\d+[.)])\s+/u, "");
    const [, date, rest = line] = /^\[?(\d{4}-\d{2}-\d{2})\]?\s*[-–—:]\s*(.+)$/u.exec(line) ?? [];
    if (/^(?:`{3}\w*|\[[^\]]*\]|#{1,6}\s.*)?$/u.test(rest)) return [];
    return (
      factOf(
        rest.replace(/^\[(?:unknown|no date|date unknown)[^\]]*\]\s*[-–—:]\s*/iu, ""),
        timeOf(date),
      ) ?? []
    );
  });
  return userEntity(facts);
}

function factOf(text: string, createdAt?: number): ImportedFact | undefined {
  const content = text.trim().toWellFormed();
  if (textProblem("observation", content) !== undefined) return undefined;
  return createdAt === undefined ? { content } : { content, createdAt };
}

/** Seconds since 1970 or an ISO 8601 time → milliseconds. */
function timeOf(value: unknown): number | undefined {
  const time =
    typeof value === "number"
      ? value * 1000
      : typeof value === "string"
        ? Date.parse(value)
        : Number.NaN;
  return time > 0 && time < 8.64e15 ? Math.round(time) : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
