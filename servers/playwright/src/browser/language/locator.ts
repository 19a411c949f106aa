import { isJson } from "@refmcp/boundary/answer";
import { escaped, inUrl } from "../text.ts";
import type { Act, Answer, Argument, Call, Chain, Target, TextComparison } from "./ast.ts";

/** A timeout in milliseconds that allows one check: Playwright checks once before looking at the clock. */
export const ONCE = 1;

export const isChain = (arg: unknown): arg is Chain => has(arg, "calls");
export const isMatch = (arg: unknown): arg is { readonly glob: string } => has(arg, "glob");
export const isAnswer = (arg: unknown): arg is Answer => has(arg, "reply");
const has = (arg: unknown, key: string) => typeof arg === "object" && arg !== null && key in arg;

export const PAGE: Chain = { calls: [] };

export const call = (name: string, ...args: Argument[]): Call => ({ name, args });

/** The locator of a target. */
export function chainOf({ base, containing: inner, inside, pick }: Target): Chain {
  const { calls: around } = inside === undefined ? PAGE : chainOf(inside);
  const calls = [...around, ...base.calls];
  if (base.or !== undefined) calls.push(call("or", { calls: [...around, ...base.or] }));
  if (inner !== undefined) calls.push(call("filter", { hasText: inner }));
  if (pick !== undefined) calls.push(typeof pick === "number" ? call("nth", pick - 1) : call(pick));
  return { calls };
}

/** A pattern's source for a text, its white space and its accents (Unicode NFC or NFD) as a reader sees them. */
export function sourceOf(text: string): string {
  const source = escaped(text.normalize("NFC").trim()).replace(/\s+/g, "\\s+");
  if (!hasForms(text)) return source;
  // Soft hyphens, which Playwright ignores for a text, but not for a pattern.
  return source.replace(/(?<=\p{L})(?=\p{L})/gu, "\\xad*").replace(/\P{ASCII}/gu, bothForms);
}

const bothForms = (letter: string): string =>
  hasForms(letter) ? `(?:${letter}|${letter.normalize("NFD")})` : letter;

/** A pattern that finds a text. */
export const containing = (text: string): RegExp => new RegExp(sourceOf(text));

/** Whether letters of a text, such as ö, have two forms that look the same. */
export const hasForms = (text: string) => text.normalize("NFC") !== text.normalize("NFD");

/** The expected value, for matchers that take a whole text or a pattern. */
export function expected({ how, value, flags }: TextComparison): string | RegExp {
  if (how === "matches") return new RegExp(value, flags);
  if (how === "contains") return containing(value);
  return hasForms(value) ? new RegExp(`^\\s*(?:${sourceOf(value)})\\s*$`) : value;
}

/** What is expected of the title or the URL. */
export const ofPage = (what: "title" | "url", compare: TextComparison): TextComparison =>
  what === "title" ? compare : { ...compare, value: inUrl(compare.value) };

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

/** One value alone, several as a list. */
export const sole = (all: readonly Argument[]): Argument =>
  all.length === 1 && all[0] !== undefined ? all[0] : all;

export function contentTypeOf(body: string): string {
  if (/^\s*</.test(body)) return "text/html";
  return isJson(body) ? "application/json" : "text/plain";
}
