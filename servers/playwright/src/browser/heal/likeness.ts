import type { Target } from "../language/ast.ts";
import type { Item, Surveyed } from "./survey.ts";

/** How much an element of the changed page is like the one that was meant, and what says so. */
export interface Likeness {
  readonly score: number;
  readonly why: string;
}

/** Roles that can replace each other without another meaning for the user. */
const FAMILIES = [
  "button link menuitem tab",
  "textbox searchbox combobox",
  "checkbox switch radio menuitemcheckbox",
];
/** Attributes that tests and forms rely on. */
const IDENTIFIERS = [
  "data-testid",
  "data-test",
  "data-test-id",
  "data-qa",
  "data-cy",
  "id",
  "name",
  "href",
  "for",
];

const words = (text: string) =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** How similar two texts are, from 0 to 1, by their pairs of letters; letter case and punctuation are ignored. */
export function similarity(one: string, other: string): number {
  const [a, b] = [words(one), words(other)];
  if (a === b) return a === "" ? 0 : 1;
  if (a === "" || b === "") return 0;
  const pairs = (text: string) =>
    Array.from({ length: text.length - 1 }, (_, at) => text.slice(at, at + 2));
  const left = pairs(a);
  const rest = pairs(b);
  const total = left.length + rest.length;
  let shared = 0;
  for (const pair of left) {
    const at = rest.indexOf(pair);
    if (at < 0) continue;
    shared += 1;
    rest.splice(at, 1);
  }
  return total === 0 ? 0 : (2 * shared) / total;
}

/** Whether an element still has the words of a target. */
export function saysSame({ base }: Target, { name, text }: Item): boolean {
  if (base.kind === "css" || base.kind === "testid") return true;
  const said = base.kind === "role" ? base.name : base.text;
  const flat = (one: string) => ("exact" in base && base.exact === true ? one : one.toLowerCase());
  return said === undefined || [name, text].some((one) => flat(one).includes(flat(said)));
}

const nameOf = ({ name, text }: Item) => (name === "" ? text : name);

/** The row of a list or table that an element is in. */
const rowOf = ({ around }: Item) =>
  around.find((one) => /^(?:row|listitem|treeitem|article) /.test(one));

/** Whether both elements are in rows, but of different things. */
export const isInOtherRow = (one: Item, other: Item): boolean => {
  const rows = [rowOf(one), rowOf(other)];
  return rows.every((row) => row !== undefined) && rows[0] !== rows[1];
};

const isRelated = (one: string, other: string) =>
  FAMILIES.some((family) =>
    [one, other].every((role) => role !== "" && family.split(" ").includes(role)),
  );

const countOf = (keys: readonly string[], key: string | undefined) =>
  keys.filter((one) => one === key).length;

/** The keys around a position, at most two on each side. */
const near = (keys: readonly string[], at: number) => [
  ...keys.slice(Math.max(0, at - 2), at),
  ...keys.slice(at + 1, at + 3),
];
const roleIn = (key: string) => key.slice(0, key.indexOf("|"));

/**
 * Compares an element with the one of the last green run.
 *
 * @param at its position in the keys of its page.
 */
export function likeness(
  green: Surveyed & { readonly item: Item },
  item: Item,
  at: number,
  keys: readonly string[],
): Likeness {
  const was = green.item;
  const evidence: (readonly [weight: number, reason: string])[] = [];
  const note = (weight: number, reason = "") => evidence.push([weight, reason]);
  if (was.role === item.role && (was.role !== "" || was.tag === item.tag))
    note(0.2, `same role ${was.role || was.tag}`);
  else if (isRelated(was.role, item.role)) note(0.12, `${was.role} became ${item.role}`);
  else note(-0.15);
  const alike = similarity(nameOf(was), nameOf(item));
  note(
    0.3 * alike,
    alike === 1 ? "same name" : alike > 0.5 ? `name ${Math.round(alike * 100)} % similar` : "",
  );
  const shared = IDENTIFIERS.filter(
    (name) => was.attributes[name] !== undefined && was.attributes[name] === item.attributes[name],
  );
  const other = IDENTIFIERS.filter(
    (name) =>
      was.attributes[name] !== undefined &&
      item.attributes[name] !== undefined &&
      was.attributes[name] !== item.attributes[name],
  );
  if (shared.length > 0) note(0.25, `same ${shared.join(", ")}`);
  else if (other.length > 0) note(-0.1);
  if (was.attributes["type"] !== undefined && was.attributes["type"] === item.attributes["type"])
    note(0.05);
  const around = was.around.filter((one) => item.around.includes(one)).length;
  const most = Math.max(was.around.length, item.around.length);
  note(0.1 * (most === 0 ? 1 : around / most), most > 0 && around === most ? "same ancestors" : "");
  if (isInOtherRow(was, item)) note(-0.2);
  else if (rowOf(was) !== undefined && rowOf(was) === rowOf(item)) note(0.1, `in ${rowOf(was)}`);
  const [before, now] = [near(green.keys, green.at), near(keys, at)];
  const same = before.filter((key) => now.includes(key)).length;
  const roles = before.filter((key) => now.some((one) => roleIn(one) === roleIn(key))).length;
  if (before.length > 0)
    note(
      (0.1 * same + 0.1 * roles) / before.length,
      same * 2 >= before.length ? `${same} of ${before.length} neighbors are the same` : "",
    );
  const ordinal = (all: readonly string[], position: number) =>
    all.slice(0, position).filter((key) => roleIn(key) === roleIn(all[position] ?? "|")).length;
  if (ordinal(green.keys, green.at) === ordinal(keys, at)) note(0.1, "same position");
  // What was there before as something else is not the element that is missing now.
  const key = keys[at];
  if (key !== green.keys[green.at] && countOf(green.keys, key) >= countOf(keys, key)) note(-0.5);
  if (was.visible && !item.visible) note(-0.2, "not visible");
  const score = evidence.reduce((sum, [weight]) => sum + weight, 0);
  return {
    score: Math.round(score * 100) / 100,
    why: evidence.flatMap(([, reason]) => (reason === "" ? [] : [reason])).join(", "),
  };
}
