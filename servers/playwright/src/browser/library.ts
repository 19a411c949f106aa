import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { clip, oneLine } from "@refmcp/boundary/answer";
import type { Frame, Locator, Page } from "playwright";
import { failure } from "./errors.ts";
import { quoted, spaced } from "./text.ts";

/**
 * Everything that depends on Playwright's private parts: how it prints locators and errors, and a query that has no
 * public method. After an upgrade, `library.test.ts` fails until each was compared with the new version.
 */
export const PLAYWRIGHT_VERSION = "1.65.1";

const require = createRequire(import.meta.url);

/**
 * Playwright, loaded with the first browser, and with `require`: as an ES module it takes a quarter of a second
 * longer.
 */
export const playwright = (): typeof import("playwright") => require("playwright");

/** Its `expect`, loaded while the browser starts. Without the test runner, that takes half as long. */
export const expectation = (): typeof import("playwright/test").expect =>
  require(join(dirname(require.resolve("playwright/package.json")), "lib/matchers/expect.js"))
    .expect;

/** The frames with a document: for that of one that is blocked or not there yet, Playwright waits without end. */
export const framesOf = (page: Page): Frame[] => page.frames().filter((one) => one.url() !== "");

/** Untrusted text on one line, short. */
export const shown = (text: string, max = 160): string => {
  const flat = oneLine(spaced(text.slice(0, 10_000)));
  return JSON.stringify(flat.length > max ? `${clip(flat, max)}…` : flat);
};

export const plain = (error: unknown): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colors begin with the escape character.
  (error instanceof Error ? error.message : String(error)).replace(/\u001b\[[\d;]*m/g, "");

/** The actual value in an error of Playwright's `expect`. */
export const actualOf = (error: unknown): unknown => Object(Object(error).matcherResult).actual;

/** A pattern that only the page runs: Playwright would run it again here to color its message. */
export function unrun(pattern: RegExp): RegExp {
  const copy = new RegExp(pattern);
  copy.exec = () => null;
  return copy;
}

/** @throws ToolError `invalid` if a message is about a selector. */
export function refuseSelector(message: string): void {
  const patterns =
    /is not a valid selector|Unexpected token.*|Unknown engine.*|Malformed.*|Error while parsing.*/;
  const found = patterns.exec(message);
  if (found !== null)
    throw failure("grammar", `The browser rejects a CSS selector: ${shown(found[0])}.`, {
      hint: "Correct the selector, or name the element by its role: button 'Save'.",
    });
}

/** Whether a message says that an action found no element in its time. */
export const isMissing = (message: string): boolean =>
  /Timeout .*exceeded|operation was aborted/.test(message) && !/locator resolved to/.test(message);

/**
 * What a page had received of an action when it was closed: its input, or nothing because the element was not found yet.
 *
 * @returns undefined if that is unknown, or for another error.
 */
export function receivedAtClose(error: unknown): "input" | "nothing" | undefined {
  const text = plain(error).trim();
  if (!text.includes("has been closed")) return undefined;
  if (/^keyboard\.|\n +- (?:performing \w+ action|elementHandle\.(?:press|type)\(.*)$/.test(text))
    return "input";
  return text.includes("locator resolved to") ? undefined : "nothing";
}

/** The reason in a Playwright error, without its call log's repetitions. */
export function reasonOf(error: unknown, target: string): string {
  const text = plain(error);
  const intercepts = /(<[^\n]{0,200}) intercepts pointer events/.exec(text)?.[1];
  if (intercepts !== undefined) return `${target} is covered by ${shown(intercepts)}`;
  const states =
    /element is (not (?:enabled|visible|editable|stable)|outside (?:of )?the viewport)/;
  const state = states.exec(text)?.[1];
  if (state === "not enabled") return `${target} is disabled`;
  if (state !== undefined)
    return `${target} is ${state.replace("editable", "editable (read-only)")}`;
  if (/did not find some options/.test(text)) return `${target} has no such option`;
  if (/Timeout .*exceeded/.test(text)) return `${target} was found, but the action timed out`;
  const [first = ""] = text.split("\n");
  return shown(first.replace(/^[\w.]+: (?:Error: )?/, ""), 300).slice(1, -1);
}

const MAX_CANDIDATES = 4;

/**
 * The candidates for an ambiguous target, each as Playwright names it uniquely, in our language.
 *
 * @param name the target in our language.
 * @returns undefined if the error is another one.
 */
export function ambiguity(message: string, name: string): string | undefined {
  const found =
    /strict mode violation: .*? resolved to (\d+) elements?:\n([\s\S]*?)(?:\n\n|$)/.exec(message);
  if (found === null) return undefined;
  const [, count = "", list = ""] = found;
  const candidates = [...list.matchAll(/^\s*(\d+)\) (.*?) aka (.*)$/gm)]
    .slice(0, MAX_CANDIDATES)
    .map(([, position, preview = "", locator = ""]) => {
      const words = sentenceOf(locator) ?? `nth ${position} ${name}`;
      return `${words} (${clip(oneLine(preview), 80)})`;
    });
  const rest = Number(count) > candidates.length ? ", …" : "";
  return `${name} matches ${count} elements. Choose one: ${candidates.join(", ")}${rest}; or write first, last or nth 2 before it`;
}

const TEXTUAL: Readonly<Record<string, string>> = {
  getByText: "text",
  getByLabel: "label",
  getByPlaceholder: "placeholder",
  getByAltText: "alt",
  getByTitle: "title",
  getByTestId: "testid",
};
const STRING = "'((?:[^'\\\\]|\\\\.)*)'";
const CALLS = new RegExp(
  `\\.?(?:(getByRole)\\('([a-z]+)'(?:, \\{ name: ${STRING}(, exact: true)? \\})?\\)` +
    `|(getBy\\w+|locator)\\(${STRING}(, \\{ exact: true \\})?\\)|(first|last)\\(\\)|nth\\((\\d+)\\)` +
    `|(contentFrame)\\(\\)|filter\\(\\{ hasText: ${STRING} \\}\\))`,
  "y",
);

/** A locator printed by Playwright, in our language; undefined if it has no equivalent. */
function sentenceOf(locator: string): string | undefined {
  const parts: string[] = [];
  CALLS.lastIndex = 0;
  while (CALLS.lastIndex < locator.length) {
    const found = CALLS.exec(locator);
    if (found === null) return undefined;
    const [
      ,
      byRole,
      role,
      name,
      exactName,
      method = "",
      text,
      exactText,
      end,
      index,
      inFrame,
      inner,
    ] = found;
    const unescaped = (one: string) => quoted(one.replace(/\\(.)/g, "$1"));
    const last = parts.pop();
    if (end !== undefined || index !== undefined || inFrame !== undefined || inner !== undefined) {
      // The frame target for an iframe's title, name or id.
      const frame = /^`(?:iframe\[(?:title|name|id)="([^"]+)"\]|(?:iframe)?#([\w-]+))`$/.exec(
        last ?? "",
      );
      const known = frame?.[1] ?? frame?.[2];
      if (last === undefined || (inFrame !== undefined && known === undefined)) return undefined;
      if (inFrame !== undefined) parts.push(`frame ${quoted(known ?? "")}`);
      else if (inner !== undefined) parts.push(`${last} containing ${unescaped(inner)}`);
      else parts.push(`${end ?? `nth ${Number(index) + 1}`} ${last}`);
      continue;
    }
    if (last !== undefined) parts.push(last);
    const exactly = (exactName ?? exactText) === undefined ? "" : "exactly ";
    if (byRole !== undefined && role !== undefined)
      parts.push(name === undefined ? role : `${role} ${exactly}${unescaped(name)}`);
    else if (method === "locator" && text !== undefined)
      parts.push(`\`${text.replace(/\\(.)/g, "$1")}\``);
    else if (text !== undefined && TEXTUAL[method] !== undefined)
      parts.push(`${TEXTUAL[method]} ${exactly}${unescaped(text)}`);
    else return undefined;
  }
  return parts.reverse().join(" in ");
}

/**
 * One line of Playwright's ARIA snapshot for models: the line without its marks, and its element's reference, role and
 * accessible name.
 */
export function snapshotLine(text: string): {
  line: string;
  ref: string | undefined;
  role: string;
  name: string | undefined;
} {
  const ref = /\[ref=((?:f\d+)?e\d+)\]/.exec(text)?.[1];
  // YAML doubles apostrophes in a key that is in apostrophes.
  const key = /^\s*- '/.test(text) ? text.replace(/''/g, "'") : text;
  const [, role = "", json] = /^\s*- '?([a-z]+)(?: ("(?:[^"\\]|\\.)*"))?/.exec(key) ?? [];
  const line = oneLine(text.replace(/ \[(?:ref=\w+|cursor=pointer|active)\]/g, ""));
  return { line, ref, role, name: json === undefined ? undefined : String(JSON.parse(json)) };
}

/** Our words for an element, such as the one of a reference in a snapshot. */
export const sentenceFor = async (locator: Locator): Promise<string | undefined> =>
  sentenceOf((await locator.normalize()).toString());
