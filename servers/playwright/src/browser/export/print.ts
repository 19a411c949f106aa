import type { Target } from "../language/ast.ts";
import { escaped } from "../language/matching.ts";
import {
  type Act,
  type Answer,
  type Argument,
  type Call,
  type Chain,
  chainOf,
  contentTypeOf,
  type Expectation,
  isAnswer,
  isChain,
  isMatch,
  ONCE,
} from "../language/plan.ts";
import type { Spec } from "../language/rows.ts";

/** A text as a JavaScript literal. U+2028 and U+2029 are fine in strings since ES2019. */
export const js = (text: string): string => JSON.stringify(text);

/** The address of a page as code for `goto`: a path where it is on the origin of the spec's `baseURL`. */
export function printAddress(address: string, spec: Pick<Spec, "base" | "url" | "page">): string {
  const { base, url, page } = spec;
  const isPath = (text: string) => /^\/(?!\/)/.test(text);
  if (/^https?:/i.test(address) && URL.canParse(address)) {
    spec.url = new URL(address).href;
    const path = spec.url.slice(base.length);
    return js(spec.url.startsWith(`${base}/`) && isPath(path) ? path : address);
  }
  if (isPath(address) && new URL(url).origin === base) return js(address);
  return `new URL(${js(address)}, ${page}.url()).href`;
}

/** A locator as code: `page.getByRole("button", { name: "Save" })`; `page` is the name of the tab's variable. */
export const printChain = ({ calls }: Chain, page: string): string =>
  [page, ...calls.map((one) => printCall(one, page))].join(".");

export const printTarget = (target: Target, page: string): string =>
  printChain(chainOf(target), page);

const printCall = ({ name, args }: Call, page: string): string =>
  `${name}(${args.map((one) => printArgument(one, page)).join(", ")})`;

function printArgument(one: Argument, page: string): string {
  if (typeof one === "string") return js(one);
  if (typeof one !== "object" || one instanceof RegExp) return String(one);
  if (isList(one)) return `[${one.map((each) => printArgument(each, page)).join(", ")}]`;
  if (isChain(one)) return printChain(one, page);
  if (isMatch(one)) return printMatch(one.glob);
  if (isAnswer(one)) return printAnswer(one);
  if ("secret" in one) return `process.env.PW_SECRET_${one.secret} ?? ""`;
  if ("file" in one) return js(String(one.file));
  const options = Object.entries(one).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `{ ${options.join(", ")} }`;
}

const isList = (one: Argument): one is readonly Argument[] => Array.isArray(one);

/** A plain path as a predicate, for readability; a pattern as a regular expression. */
function printMatch(glob: string): string {
  if (!/^\/[^*]*$/.test(glob)) return globRegex(glob);
  const path = glob.includes("?") ? "url.pathname + url.search" : "url.pathname";
  return `(url) => ${path} === ${js(glob)}`;
}

function printAnswer({ method, reply, delay }: Answer): string {
  const work =
    reply === "blocked"
      ? "route.abort()"
      : reply === "sent" || "har" in reply
        ? "route.fallback()"
        : "header" in reply
          ? `route.fallback({ headers: { ...route.request().headers(), ${js(reply.header[0])}: ${js(reply.header[1])} } })`
          : `route.fulfill({ ${printReply(reply)} })`;
  const other = method === undefined ? [] : [`route.request().method() !== ${js(method)}`];
  if (delay !== undefined)
    return [
      "async (route) => {",
      ...other.map((test) => `  if (${test}) return route.fallback();`),
      `  await new Promise((done) => setTimeout(done, ${delay}));`,
      `  return ${work};`,
      "}",
    ].join("\n");
  if (method === undefined) return `(route) => ${work}`;
  return `(route) => (route.request().method() === ${js(method)} ? ${work} : route.fallback())`;
}

function printReply({
  status,
  body,
  file,
}: Extract<Answer["reply"], { readonly status: number }>): string {
  if (file !== undefined) return `status: ${status}, path: ${js(file)}`;
  if (body === undefined) return `status: ${status}`;
  return `status: ${status}, contentType: ${js(contentTypeOf(body))}, body: ${js(body)}`;
}

export function printExpectation(
  { on, polls, not, matcher, args }: Expectation,
  timeout: number | undefined,
  page: string,
): string {
  const locator = printChain(on, page);
  const options = timeout === undefined ? [] : [`{ timeout: ${timeout} }`];
  const given = args.map((one) => printArgument(one, page));
  const check = (last: readonly string[]) =>
    `${not ? "not." : ""}${matcher}(${[...given, ...last].join(", ")});`;
  if (polls !== undefined) {
    const value =
      polls === "count"
        ? `${locator}.count()`
        : `${locator}.evaluate((one) => one.matches(${js(polls.css)}))`;
    if (timeout === ONCE) return `expect(await ${value}).${check([])}`;
    return `await expect.poll(${[`() => ${value}`, ...options].join(", ")}).${check([])}`;
  }
  return `await expect(${locator}).${check(options)}`;
}

export function printAct({ on, method, args, options }: Act, page: string): string {
  const all = [...args, ...(options === undefined ? [] : [options])];
  return `await ${printChain(on, page)}.${method}(${all.map((one) => printArgument(one, page)).join(", ")});`;
}

/** A glob over URLs as a regular expression; it may begin with the host or the path. */
export function globRegex(glob: string): string {
  const source = glob
    .split(/(\*\*|\*)/)
    .map((part) =>
      part === "**" ? ".*" : part === "*" ? "[^/]*" : escaped(part).replace(/\s/g, "\\s"),
    )
    .join("");
  const beginning = glob.startsWith("/")
    ? "^(?:[a-z]+:\\/\\/[^/]+)?"
    : /^[a-z]+:/i.test(glob) || glob.startsWith("*")
      ? "^"
      : "^(?:[a-z]+:\\/\\/)?";
  const end = glob.includes("?") ? "$" : "(?:\\?.*)?$";
  return `/${beginning}${source}${end}/su`;
}
