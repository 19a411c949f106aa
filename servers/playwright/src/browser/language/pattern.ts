import type { Sentence, Slot } from "./reader.ts";
import type { SLOTS } from "./slots.ts";
import { spellingOf } from "./words.ts";

// A form is a template of words and slots: `fill {field} with {value}`, `{from:target}` for a slot with another name,
// `[in {target}]` for an optional part, and `(a b|c)` for alternatives.

type Value<Kind> = Kind extends keyof typeof SLOTS
  ? (typeof SLOTS)[Kind] extends Slot<infer Read>
    ? Read
    : never
  : never;
type Named<Text extends string> = Text extends `${infer Name}:${infer Kind}`
  ? { readonly [Key in Name]: Value<Kind> }
  : { readonly [Key in Text]: Value<Text> };
type Needed<Form extends string> = Form extends `${string}{${infer Name}}${infer Rest}`
  ? Named<Name> & Needed<Rest>
  : unknown;
type Optional<Args> = { readonly [Key in keyof Args]: Args[Key] | undefined };
/** The values that a template's slots read. */
export type ArgsOf<Form extends string> =
  Form extends `${infer Before}[${infer Part}]${infer After}`
    ? Needed<Before> & Optional<Needed<Part>> & ArgsOf<After>
    : Needed<Form>;

export type Args = Readonly<Record<string, unknown>>;

type Node =
  | { readonly word: string; readonly pattern: RegExp }
  | { readonly name: string; readonly slot: string }
  | { readonly parts: readonly (readonly Node[])[]; readonly isOptional: boolean };
export type Pattern = readonly Node[];

/** Compiles a template. The first word of a step is a verb, which may have an ending: `clicks`. */
export function compile(form: string, isVerb = false): Pattern {
  const tokens = form.match(/\{[^}]*\}|[[\]()|]|[^\s[\](){}|]+/g) ?? [];
  let at = 0;
  const sequence = (takesVerb: boolean): Node[] => {
    const nodes: Node[] = [];
    for (
      let token = tokens[at];
      token !== undefined && !/^[\])|]$/.test(token);
      token = tokens[at]
    ) {
      const isFirst = takesVerb && nodes.length === 0;
      at += 1;
      if (token === "[" || token === "(") {
        const parts = [sequence(isFirst)];
        while (tokens[at] === "|") {
          at += 1;
          parts.push(sequence(isFirst));
        }
        at += 1;
        nodes.push({ parts, isOptional: token === "[" });
      } else if (token.startsWith("{")) {
        const [name = "", slot = name] = token.slice(1, -1).split(":");
        nodes.push({ name, slot });
      } else nodes.push({ word: token, pattern: spellingOf(token, isFirst) });
    }
    return nodes;
  };
  return sequence(isVerb);
}

/** Articles add nothing before the words of a form. */
const THE = /(?:the|an?)\s+/iy;

type Next = (at: number, cost: number, args: Args) => void;

/** Finds every way in which a sentence, from `at`, matches a pattern. */
export function match(
  pattern: Pattern,
  sentence: Sentence,
  slots: Readonly<Record<string, Slot<unknown>>>,
  from: { readonly at: number; readonly cost: number; readonly args: Args },
  next: Next,
): void {
  const run = (
    nodes: Pattern,
    index: number,
    at: number,
    cost: number,
    args: Args,
    then: Next,
  ): void => {
    const node = nodes[index];
    if (node === undefined) then(at, cost, args);
    else if ("parts" in node) {
      for (const part of node.parts)
        run(part, 0, at, cost, args, (...reached) => run(nodes, index + 1, ...reached, then));
      if (node.isOptional) run(nodes, index + 1, at, cost, args, then);
    } else if ("word" in node) {
      const after = sentence.end(at, THE);
      const end =
        sentence.end(at, node.pattern) ??
        (after === undefined ? undefined : sentence.end(after, node.pattern));
      if (end === undefined) {
        const following = nodes[index + 1];
        const noun =
          following !== undefined && "name" in following ? slots[following.slot]?.noun : undefined;
        sentence.fail(at, node.word, { next: noun });
      } else run(nodes, index + 1, end, cost, args, then);
    } else
      for (const read of slots[node.slot]?.read(sentence, at) ?? []) {
        const { isGuess } = sentence;
        sentence.isGuess ||= read.cost > 2;
        run(
          nodes,
          index + 1,
          read.at,
          cost + read.cost,
          { ...args, [node.name]: read.value },
          then,
        );
        sentence.isGuess = isGuess;
      }
  };
  run(pattern, 0, from.at, from.cost, from.args, next);
}

/** A sentence of this form with these values: its canonical wording. */
export function print(
  pattern: Pattern,
  args: Args,
  slots: Readonly<Record<string, Slot<unknown>>>,
): string {
  const isGiven = (node: Node): boolean =>
    "name" in node
      ? args[node.name] !== undefined
      : !("parts" in node) || node.parts[0]?.every(isGiven) === true;
  return pattern
    .flatMap((node) => {
      if ("word" in node) return node.word;
      if ("name" in node) return slots[node.slot]?.print(args[node.name]) ?? [];
      const [part = []] = node.parts;
      return node.isOptional && !part.every(isGiven) ? [] : print(part, args, slots);
    })
    .filter((one) => one !== "")
    .join(" ");
}
