// What is wrong with the answers that a model cannot use: refusals, and other errors.
import type { HostileCase } from "./hostile.ts";
import { type Json, listOf, objectOf } from "./json.ts";

/** What engines say when a program did not check its values. */
const INTERNAL_WORDS =
  /\[object Object\]|\b(?:undefined|null) is not\b|Cannot read propert|'NoneType' object/;
/** What a refusal may cost, in characters: ten times our longest. */
const MAX_REFUSAL = 20_000;
/** Frames of Node.js, Python, Java and Go, and paths of installed sources. */
const STACK =
  /^\s*at .+:\d+:\d+\)?$|^\s*at [\w$.<> ]+ \(.+:\d+|Traceback \(most recent call last\)|^\s*File ".+", line \d+|^goroutine \d+ \[|(?:node_modules|site-packages)[/\\]\S+/m;
const EMPTY_WORDS =
  /^\W*(?:undefined|null|error|internal(?: server)? error|invalid(?: input| params| arguments)?|failed)?\W*$/i;

/** What is wrong with the answer to hostile arguments. */
export function refusalProblems({ wrong, isLarge }: HostileCase, answer: Json): string[] {
  const text = JSON.stringify(answer);
  if (answer["isError"] !== true)
    return [`validate the arguments against the input schema before the tool runs: ${text}`];
  const words = listOf(answer["content"])
    .map((block) => objectOf(block)["text"])
    .filter((value) => typeof value === "string")
    .join("\n");
  return [
    ...(text.length > MAX_REFUSAL
      ? [`show the first few problems, and cut values that are repeated: ${text.slice(0, 200)}`]
      : []),
    ...errorProblems(words, isLarge ? [] : wrong),
  ];
}

/**
 * What is wrong with the message of an error.
 *
 * @param names of the wrong arguments (it should name at least one); none if the error is not about arguments.
 */
export function errorProblems(message: string, names: readonly string[]): string[] {
  const stack = STACK.exec(message)?.[0];
  if (stack !== undefined)
    return [
      `log the stack to stderr, and answer with one sentence: ${stack.trim()} in: ${message}`,
    ];
  if (message.length < 20 || EMPTY_WORDS.test(message) || INTERNAL_WORDS.test(message))
    return [`say what is wrong, what is allowed, and what to do next: ${message}`];
  if (names.length === 0 || names.some((name) => message.includes(name))) return [];
  return [`name the argument that is wrong: ${message}`];
}
