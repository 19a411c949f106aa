import { clip, oneLine } from "@refmcp/boundary/answer";
import type { Page } from "playwright";
import type { Target } from "../language/ast.ts";
import { describeTarget, quoted } from "../language/target.ts";
import { spaced } from "../language/values.ts";
import { targetOn } from "./locate.ts";

/** Untrusted text on one line, short. */
export const shown = (text: string, max = 160): string => {
  const flat = oneLine(spaced(text.slice(0, 10_000)));
  return JSON.stringify(flat.length > max ? `${clip(flat, max)}…` : flat);
};

/** A Playwright message without terminal colors. */
export const plain = (error: unknown): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colors begin with the escape character.
  (error instanceof Error ? error.message : String(error)).replace(/\u001b\[[\d;]*m/g, "");

/** Maximum candidates shown for an ambiguous target. */
const MAX_CANDIDATES = 4;

/**
 * The candidates for an ambiguous target, each as Playwright names it uniquely, in our language.
 *
 * @returns undefined if the error is another one.
 */
export function ambiguity(message: string, target: Target | undefined): string | undefined {
  const found = /strict mode violation: .*? resolved to (\d+) elements?:\n([\s\S]*?)(?:\n\n|$)/.exec(message);
  if (found === null) return undefined;
  const [, count = "", list = ""] = found;
  const name = target === undefined ? "the target" : describeTarget(target);
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
export function sentenceOf(locator: string): string | undefined {
  const parts: string[] = [];
  CALLS.lastIndex = 0;
  while (CALLS.lastIndex < locator.length) {
    const found = CALLS.exec(locator);
    if (found === null) return undefined;
    const [, byRole, role, name, exactName, method, text, exactText, end, index, inFrame, inner] = found;
    const unescaped = (one: string) => quoted(one.replace(/\\(.)/g, "$1"));
    const last = parts.pop();
    if (end !== undefined || index !== undefined) {
      if (last === undefined) return undefined;
      parts.push(`${end ?? `nth ${Number(index) + 1}`} ${last}`);
      continue;
    }
    if (inFrame !== undefined) {
      // The frame target for an iframe's title, name or id.
      const frame = /^`(?:iframe\[(?:title|name|id)="([^"]+)"\]|(?:iframe)?#([\w-]+))`$/.exec(last ?? "");
      const known = frame?.[1] ?? frame?.[2];
      if (known === undefined) return undefined;
      parts.push(`frame ${quoted(known)}`);
      continue;
    }
    if (inner !== undefined) {
      if (last === undefined) return undefined;
      parts.push(`${last} containing ${unescaped(inner)}`);
      continue;
    }
    if (last !== undefined) parts.push(last);
    if (byRole !== undefined && role !== undefined)
      parts.push(
        name === undefined ? role : `${role} ${exactName === undefined ? "" : "exactly "}${unescaped(name)}`,
      );
    else if (method === "locator" && text !== undefined) parts.push(`\`${text.replace(/\\(.)/g, "$1")}\``);
    else if (method !== undefined && text !== undefined && TEXTUAL[method] !== undefined)
      parts.push(`${TEXTUAL[method]} ${exactText === undefined ? "" : "exactly "}${unescaped(text)}`);
    else return undefined;
  }
  return parts.reverse().join(" in ");
}

/** Explains that nothing matches, and which half of `X in Y` is missing. */
export async function missing(page: Page, target: Target): Promise<string> {
  const nothing = `nothing matches ${describeTarget(target)}`;
  const { inside, base } = target;
  if (inside !== undefined && inside.base.kind !== "frame") {
    const around = await targetOn(page, inside)
      .count()
      .catch(() => 0);
    if (around === 0) return `${nothing}: there is no ${describeTarget(inside)}`;
    const alone = await targetOn(page, { ...target, inside: undefined })
      .count()
      .catch(() => 0);
    return `${nothing}: ${describeTarget(inside)} exists, ${alone === 0 ? "the rest does not" : "the rest is elsewhere"}`;
  }
  if (base.kind === "role" && base.name === undefined) {
    const tags = await page
      .locator(base.role)
      .count()
      .catch(() => 0);
    if (tags > 0) return `${nothing} (the role); for the HTML element write \`${base.role}\` in backticks`;
  }
  const frames = inside === undefined ? page.frames().length - 1 : 0;
  return frames > 0
    ? `${nothing}; the page has ${frames} frame${frames === 1 ? "" : "s"}: … in frame 'its title'`
    : nothing;
}
