import type { Act, Answer, Argument, Call, Chain, Expectation, Target } from "../language/ast.ts";
import { chainOf, contentTypeOf, isAnswer, isChain, isMatch, ONCE } from "../language/locator.ts";
import { globSource } from "../text.ts";

/** A spec that is being written. */
export interface Spec {
  /** The origin of the first page, its `baseURL`. */
  readonly base: string;
  /** The last page that a step opened by its address. */
  url: string;
  /** The collectors that its checks need. */
  readonly needs: Set<string>;
}

/** A text as a JavaScript literal. U+2028 and U+2029 are fine in strings since ES2019. */
export const js = (text: string): string => JSON.stringify(text);

/** The address of a page as code for `goto`: a path where it is on the origin of the spec's `baseURL`. */
export function printAddress(address: string, spec: Pick<Spec, "base" | "url">): string {
  const { base, url } = spec;
  const isPath = (text: string) => /^\/(?!\/)/.test(text);
  if (/^https?:/i.test(address) && URL.canParse(address)) {
    spec.url = new URL(address).href;
    const path = spec.url.slice(base.length);
    return js(spec.url.startsWith(`${base}/`) && isPath(path) ? path : address);
  }
  if (isPath(address) && new URL(url).origin === base) return js(address);
  return `new URL(${js(address)}, page.url()).href`;
}

/** A locator as code: `page.getByRole("button", { name: "Save" })`. */
const printChain = ({ calls }: Chain): string =>
  ["page", ...calls.map((call) => printCall(call))].join(".");

export const printTarget = (target: Target): string => printChain(chainOf(target));

const printCall = ({ name, args }: Call): string =>
  `${name}(${args.map((arg) => printArgument(arg)).join(", ")})`;

function printArgument(arg: unknown): string {
  if (typeof arg === "string") return js(arg);
  if (typeof arg !== "object" || arg === null || arg instanceof RegExp) return String(arg);
  if (Array.isArray(arg)) return `[${arg.map((each) => printArgument(each)).join(", ")}]`;
  if (isChain(arg)) return printChain(arg);
  if (isMatch(arg)) return `/${globSource(arg.glob)}/su`;
  if (isAnswer(arg)) return printAnswer(arg);
  if ("secret" in arg) return `process.env.PW_SECRET_${arg.secret} ?? ""`;
  if ("file" in arg) return js(String(arg.file));
  const options = Object.entries(arg).map(([key, value]) => `${key}: ${printArgument(value)}`);
  return `{ ${options.join(", ")} }`;
}

function printAnswer({ method, reply, delay = 0 }: Answer): string {
  const wait = delay === 0 ? [] : [`  await new Promise((done) => setTimeout(done, ${delay}));`];
  const guards = method === undefined ? [] : [`route.request().method() !== ${js(method)}`];
  return [
    "async (route) => {",
    ...guards.map((test) => `  if (${test}) return route.fallback();`),
    ...wait,
    `  return ${printReply(reply)};`,
    "}",
  ].join("\n");
}

function printReply(reply: Answer["reply"]): string {
  if (reply === "blocked") return "route.abort()";
  const { status, body, file } = reply;
  const parts = [`status: ${status}`];
  if (file !== undefined) parts.push(`path: ${js(file)}`);
  if (body !== undefined) parts.push(`contentType: ${js(contentTypeOf(body))}, body: ${js(body)}`);
  return `route.fulfill({ ${parts.join(", ")} })`;
}

export function printExpectation(
  { on, polls, not, matcher, args }: Expectation,
  timeout: number | undefined,
): string {
  const locator = printChain(on);
  const options = timeout === undefined ? [] : [`{ timeout: ${timeout} }`];
  const values = args.map((arg) => printArgument(arg));
  const check = (last: readonly string[]) =>
    `${not ? "not." : ""}${matcher}(${[...values, ...last].join(", ")});`;
  if (polls === undefined) return `await expect(${locator}).${check(options)}`;
  const value =
    polls === "count"
      ? `${locator}.count()`
      : `${locator}.evaluate((one) => one.matches(${js(polls.css)}))`;
  if (timeout === ONCE) return `expect(await ${value}).${check([])}`;
  return `await expect.poll(${[`() => ${value}`, ...options].join(", ")}).${check([])}`;
}

export function printAct({ on, method, args, options }: Act): string {
  const values: readonly (Argument | object)[] = options === undefined ? args : [...args, options];
  const list = values.map((value) => printArgument(value)).join(", ");
  return `await ${printChain(on)}.${method}(${list});`;
}
