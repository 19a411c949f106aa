import { type Fields, fieldsAt, isFields } from "./revisions.ts";

/**
 * Derives the schema of 2024-11-05, which no published package has, from that of 2025-03-26: the later one only added to
 * messages ("Key Changes" of 2025-03-26), so removing the additions gives the earlier one. Both files of the specification were
 * compared for this list: otherwise only descriptions and an inlined definition (`Annotations`) differ.
 *
 * The additions: audio, in four unions; batches; `annotations` of a tool; `message` of a progress notification; the
 * `completions` capability.
 */
export function earliestSchema(schema2025_03_26: Fields): Fields {
  const schema = structuredClone(schema2025_03_26);
  const definitions = fieldsAt(schema, "definitions");
  for (const name of [
    "AudioContent",
    "ToolAnnotations",
    "JSONRPCBatchRequest",
    "JSONRPCBatchResponse",
  ]) {
    take(definitions, name);
  }
  take(fieldsAt(definitions, "Tool", "properties"), "annotations");
  take(fieldsAt(definitions, "ServerCapabilities", "properties"), "completions");
  take(
    fieldsAt(definitions, "ProgressNotification", "properties", "params", "properties"),
    "message",
  );
  const isAudio = (option: Fields): boolean => option.$ref === "#/definitions/AudioContent";
  dropOptions(
    fieldsAt(definitions, "CallToolResult", "properties", "content", "items"),
    isAudio,
    1,
  );
  for (const name of ["PromptMessage", "SamplingMessage", "CreateMessageResult"]) {
    dropOptions(fieldsAt(definitions, name, "properties", "content"), isAudio, 1);
  }
  dropOptions(fieldsAt(definitions, "JSONRPCMessage"), (option) => option.type === "array", 2);
  return schema;
}

/** Removes a member that must exist. */
function take(fields: Fields, name: string): void {
  if (!(name in fields))
    throw new Error(`The schema of 2025-03-26 has no ${name} where it was added.`);
  delete fields[name];
}

function dropOptions(union: Fields, drops: (option: Fields) => boolean, count: number): void {
  const { anyOf } = union;
  if (!Array.isArray(anyOf))
    throw new Error("The schema of 2025-03-26 has no union where options were added.");
  const options = anyOf.filter((option) => !(isFields(option) && drops(option)));
  if (options.length !== anyOf.length - count) {
    throw new Error(`${anyOf.length - options.length} options were added, not ${count}.`);
  }
  union.anyOf = options;
}
