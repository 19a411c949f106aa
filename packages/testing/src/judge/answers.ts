// Rules about one answer of one tool, which the contract suite uses too.
import type { Problem } from "./finding.ts";
import type { HostileCase } from "./hostile.ts";
import { type Json, listOf, objectOf } from "./link.ts";
import { schemaProblem } from "./schema.ts";

/** What engines say when a program did not check its values. */
const INTERNAL_WORDS =
  /\[object Object\]|\b(?:undefined|null) is not\b|Cannot read propert|'NoneType' object/;

/** About what Claude Code shows of an answer (25,000 tokens). */
export const MAX_ANSWER_BYTES = 100_000;
/** What an error may cost: ten times our longest. */
export const MAX_REFUSAL_BYTES = 20_000;

/** Frames of Node.js, Python, Java and Go, and paths of installed sources. */
const STACK =
  /^\s*at .+:\d+:\d+\)?$|^\s*at [\w$.<> ]+ \(.+:\d+|Traceback \(most recent call last\)|^\s*File ".+", line \d+|^goroutine \d+ \[|(?:node_modules|site-packages)[/\\]\S+/m;
const EMPTY_WORDS =
  /^\W*(?:undefined|null|error|internal(?: server)? error|invalid(?: input| params| arguments)?|failed)?\W*$/i;

/** What is wrong with the successful result of a call. */
export function answerProblems(
  tool: { readonly outputSchema?: unknown },
  result: Json,
  bytes: number,
): Problem[] {
  const problems = shapeProblems(result);
  if (bytes > MAX_ANSWER_BYTES)
    problems.push({ rule: "answer-large", text: `The answer has ${bytes} bytes.` });
  if (tool.outputSchema === undefined) return problems;
  const value = result["structuredContent"];
  const wrong =
    value === undefined
      ? "The tool has an outputSchema, but the result has no structuredContent."
      : schemaProblem(value, tool.outputSchema, undefined, "structuredContent");
  if (wrong !== undefined) problems.push({ rule: "answer-output", text: wrong });
  const blocks = listOf(result["content"]).map(objectOf);
  if (value !== undefined && !blocks.some(({ type, text }) => type === "text" && text !== ""))
    problems.push({ rule: "answer-text", text: "The result has structuredContent, but no text." });
  return problems;
}

/** What is wrong with the shape of any result of a call. */
export function shapeProblems(result: Json): Problem[] {
  const { content } = result;
  const say = (text: string): Problem => ({ rule: "answer-shape", text });
  if (!Array.isArray(content)) return [say("content is not a list.")];
  return content.flatMap((block, index) => {
    const wrong = blockProblem(objectOf(block));
    return wrong === undefined ? [] : [say(`content[${index}]: ${wrong}`)];
  });
}

function blockProblem({
  type,
  text,
  data,
  mimeType,
  resource,
  uri,
  name,
}: Json): string | undefined {
  switch (type) {
    case "text":
      return typeof text === "string" ? undefined : "a text block without text.";
    case "image":
    case "audio":
      if (typeof mimeType !== "string") return `${type} without mimeType.`;
      return typeof data === "string" && isBase64(data)
        ? undefined
        : `the data of ${type} is not base64.`;
    case "resource_link":
      return typeof uri === "string" && typeof name === "string"
        ? undefined
        : "a resource_link without uri or name.";
    case "resource": {
      const inner = objectOf(resource);
      if (typeof inner["uri"] !== "string") return "a resource without uri.";
      if (typeof inner["text"] === "string") return undefined;
      return typeof inner["blob"] === "string" && isBase64(inner["blob"])
        ? undefined
        : "a resource without text or blob.";
    }
    default:
      return `the block type ${JSON.stringify(type)} is unknown.`;
  }
}

/** By its characters: a pattern for the whole would overflow the stack on a large picture. */
function isBase64(data: string): boolean {
  const end = data.indexOf("=");
  const padding = end < 0 ? 0 : data.length - end;
  return data.length % 4 === 0 && padding <= 2 && !/[^A-Za-z0-9+/=]/.test(data);
}

/** The text of a result, or the message of a JSON-RPC error. */
export function textIn({ content, message }: Json): string {
  if (typeof message === "string") return message;
  return listOf(content)
    .map((block) => objectOf(block)["text"])
    .filter((text) => typeof text === "string")
    .join("\n");
}

/**
 * What is wrong with the answer to hostile arguments.
 *
 * @param answer the result, or the JSON-RPC error.
 * @param came how to show it.
 */
export function refusalProblems(
  { wrong, isLarge }: HostileCase,
  answer: Json,
  came = JSON.stringify(answer),
): Problem[] {
  const isError = typeof answer["code"] === "number";
  if (!isError && answer["isError"] !== true) return [{ rule: "input-unchecked", text: came }];
  const shape: Problem[] = isError ? [{ rule: "error-kind", text: came }] : shapeProblems(answer);
  // Large messages may be refused by the protocol, before a tool is called.
  const isEarly = isLarge && isError;
  return [...(isEarly ? [] : shape), ...errorProblems(textIn(answer), isLarge ? [] : wrong)];
}

/**
 * What is wrong with the message of an error.
 *
 * @param names of the wrong arguments, of which it should name one; none if the error is not about arguments.
 */
export function errorProblems(message: string, names: readonly string[]): Problem[] {
  const stack = STACK.exec(message)?.[0];
  if (stack !== undefined) return [{ rule: "error-leak", text: `${stack.trim()} in: ${message}` }];
  if (message.length < 20 || EMPTY_WORDS.test(message) || INTERNAL_WORDS.test(message))
    return [
      { rule: "error-unhelpful", text: message === "" ? "An error without a text." : message },
    ];
  if (names.length === 0 || names.some((name) => message.includes(name))) return [];
  return [{ rule: "error-argument", text: message }];
}
