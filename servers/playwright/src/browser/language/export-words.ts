import type { Base, Target, TextComparison } from "./ast.ts";
import { escaped } from "./reader.ts";

/** A text as a JavaScript literal. U+2028 and U+2029 are fine in strings since ES2019. */
export const js = (text: string): string => JSON.stringify(text);

/** A target as a Playwright locator. */
export function locator(target: Target, field = false): string {
  const root = target.inside === undefined ? "page" : locator(target.inside);
  const all = `${root}.${base(target.base, field, root)}`;
  if (target.pick === undefined) return all;
  return typeof target.pick === "number" ? `${all}.nth(${target.pick - 1})` : `${all}.${target.pick}()`;
}

function base(one: Base, field: boolean, root: string): string {
  switch (one.kind) {
    case "css":
      return `locator(${js(one.css)})`;
    case "role":
      return `getByRole(${js(one.role)}${one.name === undefined ? "" : `, { name: ${js(one.name)} }`})`;
    case "text":
      return `getByText(${js(one.text)})`;
    case "label":
      return `getByLabel(${js(one.text)})`;
    case "placeholder":
      return `getByPlaceholder(${js(one.text)})`;
    case "alt":
      return `getByAltText(${js(one.text)})`;
    case "testid":
      return `getByTestId(${js(one.text)})`;
    case "quoted":
      return field
        ? `getByLabel(${js(one.text)}).or(${root}.getByPlaceholder(${js(one.text)}))`
        : `getByText(${js(one.text)})`;
  }
}

/** The first of several that a person would take. */
export function acting(target: Target, field = false): string {
  const one = locator(target, field);
  return target.pick === undefined ? `${one}.first()` : one;
}

/** A comparison as a regular expression, without its negation; white space fits any white space. */
export function regex({ how, value, flags }: TextComparison): string {
  if (how === "matches") return `/${value}/${flags}`;
  const words = value.trim().split(/\s+/).map(escaped).join("\\s+");
  return how === "is" ? `/^\\s*${words}\\s*$/u` : `/${words}/u`;
}

/** A glob over URLs as a regular expression; it may begin with the host or the path. */
export function globRegex(glob: string): string {
  const source = glob
    .split(/(\*\*|\*)/)
    .map((part) => (part === "**" ? ".*" : part === "*" ? "[^/]*" : escaped(part).replace(/\s/g, "\\s")))
    .join("");
  const beginning = glob.startsWith("/")
    ? "^(?:[a-z]+:\\/\\/[^/]+)?"
    : /^[a-z]+:/i.test(glob) || glob.startsWith("*")
      ? "^"
      : "^(?:[a-z]+:\\/\\/)?";
  const end = glob.startsWith("/") && !glob.includes("?") ? "(?:\\?.*)?$" : "$";
  return `/${beginning}${source}${end}/su`;
}
