import { parseTargetUrl } from "../network/address.ts";
import { assertion } from "./assertion.ts";
import type { Action, FillValue, Step, Target } from "./ast.ts";
import { ENVIRONMENT_STEPS } from "./environment.ts";
import { LanguageError, Reader } from "./reader.ts";
import { target } from "./target.ts";
import { duration } from "./values.ts";

const EXAMPLE = "click button 'Save'";

/**
 * Parses one step: an action on the page, or `expect` and an assertion that must hold before the next step.
 *
 * @throws LanguageError with the position of the problem.
 */
export function parseStep(text: string): Step {
  const reader = new Reader(text);
  if (reader.atEnd) throw reader.error("a step", EXAMPLE);
  const known = Object.keys(ACTIONS).find((words) => reader.takes(words));
  const read = known === undefined ? undefined : ACTIONS[known];
  if (read === undefined) {
    throw reader.unknownWord(
      "a step: goto, click, fill, type, press, check, select, upload, hover, wait for, scroll to, drag, accept dialog, go back, reload, viewport, screenshot, expect, switch to tab, mock, block, offline, clock, throttle, save state",
      Object.keys(ACTIONS),
      EXAMPLE,
    );
  }
  const action = read(reader);
  reader.end("the end of the step", EXAMPLE);
  return { text: text.trim(), action };
}

/** Longer phrases come before their own prefixes. */
const ACTIONS: Readonly<Record<string, (reader: Reader) => Action>> = {
  "double click": clicking("double click `.row`", "left", 2),
  "right click": clicking("right click `.row`", "right", 1),
  click: clicking(EXAMPLE, "left", 1),
  goto: address,
  "go to": address,
  open: address,
  "go back": () => ({ kind: "history", direction: "back" }),
  "go forward": () => ({ kind: "history", direction: "forward" }),
  back: () => ({ kind: "history", direction: "back" }),
  forward: () => ({ kind: "history", direction: "forward" }),
  reload: () => ({ kind: "reload" }),
  fill: (reader) => {
    const example = "fill label 'Email' with 'ada@example.com'";
    const field = target(reader, example);
    if (!reader.takes("with"))
      throw reader.error("with and a text in quotes, or with secret and its name", example);
    return { kind: "fill", target: field, value: fillValue(reader, example) };
  },
  type: (reader) => {
    const example = "type 'ber' into 'City'";
    const value = fillValue(reader, example);
    return { kind: "type", value, target: reader.takes("into") ? target(reader, example) : undefined };
  },
  press: (reader) => {
    const example = "press Enter on label 'Email'";
    const start = reader.at;
    const key = reader.isAtString() ? reader.string(example) : reader.takesPattern(/\S+/)?.[0];
    if (key === undefined || !isKey(key))
      throw new LanguageError(start, "a key such as Enter, Escape, ArrowDown or Control+A", example);
    return { kind: "press", key, target: reader.takes("on") ? target(reader, example) : undefined };
  },
  check: (reader) => ({ kind: "check", target: target(reader, "check label 'I agree'"), checked: true }),
  uncheck: (reader) => ({ kind: "check", target: target(reader, "uncheck label 'I agree'"), checked: false }),
  select: (reader) => {
    const example = "select 'Blue' in label 'Color'";
    const options = strings(reader, example);
    if (!reader.takes("in") && !reader.takes("from")) throw reader.error("in and the list", example);
    return { kind: "select", options, target: target(reader, example) };
  },
  upload: (reader) => {
    const example = "upload 'notes.txt' to label 'Attachment'";
    const files = strings(reader, example);
    if (!reader.takes("to") && !reader.takes("in")) throw reader.error("to and the file field", example);
    return { kind: "upload", files, target: target(reader, example) };
  },
  hover: (reader) => ({ kind: "hover", target: target(reader, "hover `nav .menu`") }),
  focus: (reader) => ({ kind: "focus", target: target(reader, "focus label 'Email'") }),
  clear: (reader) => ({ kind: "clear", target: target(reader, "clear label 'Email'") }),
  "wait for": waiting,
  wait: waiting,
  "scroll to": scrolling,
  scroll: scrolling,
  drag: (reader) => {
    const example = "drag `#card` to `#done`";
    const from = target(reader, example);
    if (!reader.takes("to")) throw reader.error("to and the drop target", example);
    return { kind: "drag", from, to: target(reader, example) };
  },
  "accept dialog": (reader) => ({
    kind: "dialog",
    accept: true,
    text: reader.takes("with") ? reader.string("accept dialog with 'yes'") : undefined,
  }),
  "dismiss dialog": () => ({ kind: "dialog", accept: false, text: undefined }),
  viewport: (reader) => {
    const found = reader.takesPattern(/(\d{2,4})\s*x\s*(\d{2,4})(?!\w)/i);
    const [width, height] = [Number(found?.[1]), Number(found?.[2])];
    if (!(width >= 50 && width <= 4_000 && height >= 50 && height <= 4_000))
      throw reader.error("a size from 50x50 to 4000x4000", "viewport 390x844");
    return { kind: "viewport", width, height };
  },
  screenshot: (reader) => {
    const name = reader.isAtString() ? reader.string("screenshot 'filled form'") : undefined;
    const shown = reader.takes("of") ? target(reader, "screenshot 'menu' of nav") : undefined;
    return { kind: "screenshot", name, target: shown };
  },
  expect: (reader) => ({ kind: "expect", assertion: assertion(reader) }),
  ...ENVIRONMENT_STEPS,
};

function clicking(example: string, button: "left" | "right", count: 1 | 2): (reader: Reader) => Action {
  return (reader) => ({ kind: "click", target: target(reader, example), button, count });
}

function address(reader: Reader): Action {
  const example = "goto /login";
  const start = reader.at;
  const url = reader.isAtString() ? reader.string(example) : reader.takesPattern(/\S+/)?.[0];
  if (url === undefined) throw reader.error("a URL, or a path on the same site", example);
  const parsed = parseTargetUrl(url, "http://localhost/");
  if (typeof parsed === "string")
    throw new LanguageError(start, `an http or https URL, or a path (${parsed})`, example);
  return { kind: "goto", url };
}

function fillValue(reader: Reader, example: string): FillValue {
  if (!reader.takes("secret"))
    return { text: reader.string(example, "a text in quotes, or secret and its name") };
  const start = reader.at;
  const secret = reader.string("fill label 'Password' with secret 'PASSWORD'", "the secret's name in quotes");
  if (!/^[A-Za-z]\w{0,63}$/.test(secret))
    throw new LanguageError(
      start,
      "a name of letters, digits and _",
      "fill label 'Password' with secret 'PASSWORD'",
    );
  return { secret };
}

function strings(reader: Reader, example: string): string[] {
  const all = [reader.string(example)];
  while (reader.takesPattern(/,/) !== undefined || reader.takes("and")) all.push(reader.string(example));
  return all;
}

/** Keys as Playwright names them, alone or with modifiers. */
function isKey(key: string): boolean {
  const parts = key.length === 1 ? [key] : key.split("+");
  const last = parts.pop() ?? "";
  const known =
    /^(?:[!-~]|F(?:[1-9]|1[0-2])|Enter|Escape|Tab|Space|Backspace|Delete|Insert|Home|End|Page(?:Up|Down)|Arrow(?:Up|Down|Left|Right)|Key[A-Z]|Digit\d)$/;
  return known.test(last) && parts.every((part) => /^(?:Control|Shift|Alt|Meta|ControlOrMeta)$/.test(part));
}

function waiting(reader: Reader): Action {
  const example = "wait for .spinner is hidden";
  if (/^\d/.test(reader.rest)) return { kind: "wait", milliseconds: duration(reader, "wait for 500ms") };
  if (reader.takes("network idle")) return { kind: "wait for load", state: "idle" };
  if (reader.takes("load")) return { kind: "wait for load", state: "load" };
  const start = reader.at;
  const waited = lone(reader);
  if (waited !== undefined) {
    const check = { kind: "state", target: waited, state: "visible", negated: false } as const;
    return {
      kind: "wait for",
      assertion: {
        text: `${reader.text.slice(start).trim()} is visible`,
        negated: false,
        check,
        within: undefined,
      },
    };
  }
  reader.at = start;
  if (reader.atEnd) throw reader.error("a time, a target, or an assertion", example);
  return { kind: "wait for", assertion: assertion(reader) };
}

/** A target that nothing follows, or undefined. */
function lone(reader: Reader): Target | undefined {
  try {
    const found = target(reader);
    return reader.atEnd ? found : undefined;
  } catch {
    return undefined;
  }
}

function scrolling(reader: Reader): Action {
  const edge = reader.takesOneOf(["top", "bottom"] as const);
  return { kind: "scroll", to: edge ?? target(reader, "scroll to footer") };
}
