import { ToolError } from "@refmcp/boundary/answer";
import { tokenize } from "@refmcp/sql";

/** The parameters of a statement, in order of first appearance; names are without their prefix. */
export interface Places {
  /** The number of plain question marks. */
  readonly anonymous: number;
  /** `?1`, `:name`, `@name` and `$name` (SQLite, "Parameters"). */
  readonly named: readonly string[];
  /** Numbers below the highest `?NNN` that are not used: SQLite counts them as unnamed parameters. */
  readonly gaps: readonly number[];
}

/** @param sql one statement */
export function placesOf(sql: string): Places {
  const named = new Set<string>();
  const slots = new Set<number>();
  let anonymous = 0;
  const tokens = tokenize(sql);
  for (const [at, { kind, text }] of tokens.entries()) {
    const next = tokens[at + 1];
    if (kind !== "other" || !/^[?:@$]$/.test(text)) continue;
    const isName = next?.kind === "number" || (text !== "?" && next?.kind === "word");
    if (isName) named.add(next.text);
    if (isName && text === "?") slots.add(Number(next.text));
    else if (text === "?") anonymous += 1;
  }
  const max = Math.min(Math.max(0, ...slots), 32_766);
  const gaps = Array.from({ length: max }, (_, at) => at + 1).filter((place) => !slots.has(place));
  return { anonymous, named: [...named], gaps };
}

/**
 * Values in the form that the driver binds: in order for `?`, by number for `?1` and `$1`, by name for `:name` (given as one
 * object, or in the order of the names).
 *
 * @throws ToolError `invalid` if they don't match the statement
 */
export function arranged(
  sql: string,
  values: readonly unknown[],
): { readonly inOrder: readonly unknown[]; readonly byName?: Readonly<Record<string, unknown>> } {
  const { anonymous, named, gaps } = placesOf(sql);
  const wanted = anonymous + named.length;
  if (named.length === 0) {
    if (values.length !== anonymous) throw mismatch(`${wanted}`, values.length, "one for each ? in order");
    return { inOrder: values };
  }
  if (anonymous > 0)
    throw new ToolError("invalid", "The statement mixes ? with named parameters.", {
      hint: "Use one or the other.",
    });
  if (named.every((name) => /^\d+$/.test(name))) {
    const max = Math.max(...named.map(Number));
    if (values.length !== max) throw mismatch(`${max}`, values.length, "the first for ?1 or $1, and so on");
    return {
      inOrder: gaps.map((place) => values[place - 1]),
      byName: Object.fromEntries(named.map((name) => [name, values[Number(name) - 1]])),
    };
  }
  const [first] = values;
  const isObject = typeof first === "object" && first !== null && !Array.isArray(first);
  const isBlob = isObject && "base64" in first && !named.includes("base64");
  if (values.length === 1 && isObject && !isBlob) {
    const given = new Map(Object.entries(first).map(([name, value]) => [name.replace(/^[:@$]/, ""), value]));
    const missing = named.filter((name) => !given.has(name));
    const unknown = [...given.keys()].filter((name) => !named.includes(name));
    if (missing.length > 0 || unknown.length > 0)
      throw new ToolError(
        "invalid",
        [
          ...(missing.length > 0 ? [`No value for ${missing.join(", ")}.`] : []),
          ...(unknown.length > 0 ? [`The statement has no parameter ${unknown.join(", ")}.`] : []),
        ].join(" "),
        { hint: `Its parameters are ${named.join(", ")}.` },
      );
    return { inOrder: [], byName: Object.fromEntries(given) };
  }
  if (values.length !== named.length)
    throw mismatch(
      `${wanted}`,
      values.length,
      `for ${named.join(", ")}: in this order, or as one object of names and values`,
    );
  return { inOrder: [], byName: Object.fromEntries(named.map((name, at) => [name, values[at]])) };
}

/** A NULL for each parameter, for a plan that does not depend on the values. */
export function nullsFor(sql: string): null[] {
  const { anonymous, named } = placesOf(sql);
  const numbers = named.filter((name) => /^\d+$/.test(name)).map(Number);
  return Array(numbers.length === named.length ? Math.max(anonymous, ...numbers) : named.length).fill(null);
}

function mismatch(wanted: string, given: number, how: string): ToolError {
  return new ToolError(
    "invalid",
    `The statement takes ${wanted} ${wanted === "1" ? "value" : "values"}, but ${given} ${given === 1 ? "was" : "were"} given.`,
    {
      hint: `Pass ${how}.`,
    },
  );
}
