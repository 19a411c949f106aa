import { isJson } from "@refmcp/boundary/answer";
import { escaped } from "../text.ts";
import type {
  Act,
  Answer,
  Argument,
  Base,
  Call,
  Chain,
  FillValue,
  Target,
  TextComparison,
} from "./ast.ts";

/** A timeout in milliseconds that allows one check: Playwright checks once before looking at the clock. */
export const ONCE = 1;

export const isChain = (one: unknown): one is Chain => has(one, "calls");
export const isMatch = (one: unknown): one is { readonly glob: string } => has(one, "glob");
export const isAnswer = (one: unknown): one is Answer => has(one, "reply");
const has = (one: unknown, key: string) => typeof one === "object" && one !== null && key in one;

export const PAGE: Chain = { calls: [] };

/** The locator of a target. */
export function chainOf({ base, containing, inside, pick }: Target): Chain {
  const root = inside === undefined ? PAGE : chainOf(inside);
  const inner = containing === undefined ? [] : [call("filter", { hasText: containing })];
  const calls = [...root.calls, ...baseCalls(base, root), ...inner];
  if (pick === undefined) return { calls };
  return { calls: [...calls, typeof pick === "number" ? call("nth", pick - 1) : call(pick)] };
}

export const call = (name: string, ...args: Argument[]): Call => ({ name, args });

const BY_TEXT = {
  text: "getByText",
  label: "getByLabel",
  placeholder: "getByPlaceholder",
  alt: "getByAltText",
  title: "getByTitle",
} as const;

function baseCalls(base: Base, root: Chain): readonly Call[] {
  const named = (method: string, text: string, exact: boolean) =>
    call(method, text, ...(exact ? [{ exact: true }] : []));
  switch (base.kind) {
    case "locator":
      return base.calls;
    case "css":
      return [call("locator", base.css)];
    case "frame": {
      const attributes = ["title", "name", "id"].map(
        (name) => `iframe[${name}=${JSON.stringify(base.text)}]`,
      );
      return [call("frameLocator", attributes.join(", "))];
    }
    case "role": {
      const { role, name, exact, level } = base;
      const options = {
        ...(name === undefined ? {} : { name }),
        ...(exact ? { exact } : {}),
        ...(level === undefined ? {} : { level }),
      };
      return [call("getByRole", role, ...(Object.keys(options).length === 0 ? [] : [options]))];
    }
    case "testid":
      return [call("getByTestId", base.text)];
    case "field": {
      if (base.text === undefined) return [call("getByRole", "textbox")];
      const placeholder = named("getByPlaceholder", base.text, base.exact);
      const or = call("or", { calls: [...root.calls, placeholder] });
      return [named("getByLabel", base.text, base.exact), or];
    }
    default:
      return [named(BY_TEXT[base.kind], base.text, base.exact)];
  }
}

/** A pattern's source for a text, its white space and its accents (Unicode NFC or NFD) as a reader sees them. */
export const sourceOf = (text: string): string =>
  [...new Set([text.normalize("NFC"), text.normalize("NFD")])]
    .map((form) => form.trim().split(/\s+/).map(escaped).join("\\s+"))
    .join("|");

/** A pattern that finds a text. */
export const containing = (text: string): RegExp => new RegExp(sourceOf(text));

/** Whether letters of a text, such as ö, have two forms that look the same. */
const hasForms = (text: string) => text.normalize("NFC") !== text.normalize("NFD");

/** The expected value, for matchers that take a whole text or a pattern. */
export function expected({ how, value, flags }: TextComparison): string | RegExp {
  if (how === "matches") return new RegExp(value, flags);
  if (how === "contains") return containing(value);
  return hasForms(value) ? new RegExp(`^\\s*(?:${sourceOf(value)})\\s*$`) : value;
}

/** The expected value, for a matcher that finds a text in another one. */
export const part = (value: string): string | RegExp =>
  hasForms(value) ? containing(value) : value;

/** A call on an element. */
export const act = (target: Target, method: string, ...args: Argument[]): Act => ({
  on: chainOf(target),
  ...{ method, args, target },
});

/** A call on the page. */
export const onPage = (method: string, ...args: Argument[]): Act => ({
  on: PAGE,
  ...{ method, args, target: undefined },
});

export const writing = (value: FillValue): Argument =>
  "text" in value ? value.text : { secret: value.secret };

/** One value alone, several as a list. */
export const sole = (all: readonly Argument[]): Argument =>
  all.length === 1 && all[0] !== undefined ? all[0] : all;

export function contentTypeOf(body: string): string {
  if (/^\s*</.test(body)) return "text/html";
  return isJson(body) ? "application/json" : "text/plain";
}
