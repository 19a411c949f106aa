import type { Sentence, Slot } from "./reader.ts";
import type { SLOTS } from "./slots.ts";

// A form is a template of words and slots: `fill {field} with {value}`, `{from:target}` for a slot with another name, and
// `[in {target}]` for an optional part.

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

type Args = Readonly<Record<string, unknown>>;
type Slots = Readonly<Record<string, Slot<unknown>>>;

type Node =
  | { readonly word: string; readonly pattern: RegExp }
  | { readonly name: string; readonly slot: string }
  | { readonly optional: Pattern };
type Pattern = readonly Node[];

const compiled = new Map<string, Pattern>();

/** Compiles a template when it is first used. */
function compile(form: string): Pattern {
  const known = compiled.get(form);
  if (known !== undefined) return known;
  const tokens = form.match(/\{[^}]*\}|[[\]]|[^\s[\]{}]+/g) ?? [];
  let at = 0;
  const sequence = (): Node[] => {
    const nodes: Node[] = [];
    for (let token = tokens[at]; token !== undefined && token !== "]"; token = tokens[at]) {
      at += 1;
      if (token === "[") {
        nodes.push({ optional: sequence() });
        at += 1;
      } else if (token.startsWith("{")) {
        const [name = "", slot = name] = token.slice(1, -1).split(":");
        nodes.push({ name, slot });
      } else nodes.push({ word: token, pattern: new RegExp(`${token}(?![\\w-])`, "iy") });
    }
    return nodes;
  };
  const nodes = sequence();
  compiled.set(form, nodes);
  return nodes;
}

type Next = (at: number, args: Args) => void;

/** Finds every way in which a sentence, from `at`, has a form. */
export function match(
  form: string,
  sentence: Sentence,
  slots: Slots,
  from: number,
  next: Next,
): void {
  const run = (nodes: Pattern, index: number, at: number, args: Args, then: Next): void => {
    const node = nodes[index];
    if (node === undefined) then(at, args);
    else if ("optional" in node) {
      run(node.optional, 0, at, args, (...reached) => run(nodes, index + 1, ...reached, then));
      run(nodes, index + 1, at, args, then);
    } else if ("word" in node) {
      const end = sentence.end(at, node.pattern);
      if (end === undefined) {
        const following = nodes[index + 1];
        const noun =
          following !== undefined && "name" in following ? slots[following.slot]?.noun : undefined;
        sentence.fail(at, node.word, { next: noun });
      } else run(nodes, index + 1, end, args, then);
    } else
      for (const read of slots[node.slot]?.read(sentence, at) ?? [])
        run(nodes, index + 1, read.at, { ...args, [node.name]: read.value }, then);
  };
  run(compile(form), 0, from, {}, next);
}

/** A sentence of this form with these values. */
export const print = (form: string, args: Args, slots: Slots): string =>
  printNodes(compile(form), args, slots);

function printNodes(nodes: Pattern, args: Args, slots: Slots): string {
  const isGiven = (node: Node): boolean => !("name" in node) || args[node.name] !== undefined;
  return nodes
    .flatMap((node) => {
      if ("word" in node) return node.word;
      if ("name" in node) return slots[node.slot]?.print(args[node.name]) ?? [];
      return node.optional.every(isGiven) ? printNodes(node.optional, args, slots) : [];
    })
    .join(" ");
}
