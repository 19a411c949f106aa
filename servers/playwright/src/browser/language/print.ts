import type { Target } from "./ast.ts";
import { type Act, type Argument, type Call, type Chain, chainOf, type Expectation } from "./plan.ts";
import { escaped } from "./reader.ts";

/** A text as a JavaScript literal. U+2028 and U+2029 are fine in strings since ES2019. */
export const js = (text: string): string => JSON.stringify(text);

/** A locator as code: `page.getByRole("button", { name: "Save" })`. */
export const printChain = ({ calls }: Chain): string => ["page", ...calls.map(printCall)].join(".");

/** A target as code. */
export const printTarget = (target: Target): string => printChain(chainOf(target));

const printCall = ({ name, args }: Call): string => `${name}(${args.map(printArgument).join(", ")})`;

function printArgument(one: Argument): string {
  if (typeof one === "string") return js(one);
  if (typeof one !== "object" || one instanceof RegExp) return String(one);
  if (Array.isArray(one)) return `[${one.map(printArgument).join(", ")}]`;
  if ("calls" in one && Array.isArray(one.calls)) return printChain({ calls: one.calls });
  if ("secret" in one) return `process.env.PW_SECRET_${one.secret} ?? ""`;
  if ("file" in one) return js(String(one.file));
  const options = Object.entries(one).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `{ ${options.join(", ")} }`;
}

/** An expectation as a line of a spec. */
export function printExpectation(
  { on, counted, not, matcher, args }: Expectation,
  timeout: number | undefined,
): string {
  const locator = printChain(on);
  const options = timeout === undefined ? [] : [`{ timeout: ${timeout} }`];
  const given = args.map(printArgument);
  const check = (last: readonly string[]) =>
    `${not ? "not." : ""}${matcher}(${[...given, ...last].join(", ")});`;
  if (counted)
    return `await expect.poll(${[`() => ${locator}.count()`, ...options].join(", ")}).${check([])}`;
  return `await expect(${locator}).${check(options)}`;
}

/** An action as a line of a spec. */
export function printAct({ on, method, args, options }: Act): string {
  const all = [...args, ...(options === undefined ? [] : [options])];
  return `await ${printChain(on)}.${method}(${all.map(printArgument).join(", ")});`;
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
