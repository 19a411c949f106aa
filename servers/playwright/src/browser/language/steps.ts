import { checkLines, settledLines } from "../export/checks.ts";
import { js, printAddress } from "../export/print.ts";
import { DIRECTIONS } from "./ast.ts";
import { type Argument, act, onPage, sole, writing } from "./plan.ts";
import { type Spec, step } from "./rows.ts";
import { AROUND_STEPS } from "./steps-around.ts";

const GO = "go";
const MOUSE = "mouse";
const FIELDS = "keys and fields";
const WAIT = "wait";
const DIALOGS = "dialogs";
const TABS = "tabs";

/** How far the wheel turns without a number of pixels. */
const WHEEL_PX = 600;

const files = (names: readonly string[]): Argument => sole(names.map((file) => ({ file })));

/** The answer to the next dialog in a spec. */
const answered = ({ needs, page }: Spec, answer: string) =>
  needs.has("dialogs")
    ? [`answers.push((dialog) => dialog.${answer});`]
    : [`${page}.once("dialog", (dialog) => dialog.${answer});`];

export const STEPS = {
  goto: step(GO, "goto {url}", ["goto /login"], {
    spec: ({ url }, spec) => [`await ${spec.page}.goto(${printAddress(url, spec)});`],
  }),
  back: step(GO, "go back", ["go back"], {
    spec: (_, { page }) => [`await ${page}.goBack();`],
  }),
  forward: step(GO, "go forward", ["go forward"], {
    spec: (_, { page }) => [`await ${page}.goForward();`],
  }),
  reload: step(GO, "reload", ["reload"], {
    acts: () => [{ ...onPage("reload"), timed: true }],
  }),
  click: step(MOUSE, "click {target:acted}", ["click button 'Save'"], {
    acts: ({ target }) => [act(target, "clickable", "click")],
  }),
  "click at": step(
    MOUSE,
    "click [{target:acted}] at {point}",
    ["click canvas at 10, 20", "click at 10, 20"],
    {
      acts: ({ target, point }) => [
        target === undefined
          ? onPage("mouse.click", point.x, point.y)
          : { ...act(target, "clickable", "click"), options: { position: point } },
      ],
    },
  ),
  "double click": step(MOUSE, "double click {target:acted}", ["double click first li"], {
    acts: ({ target }) => [act(target, "clickable", "dblclick")],
  }),
  "right click": step(MOUSE, "right click {target:acted}", ["right click nth 2 li"], {
    acts: ({ target }) => [{ ...act(target, "clickable", "click"), options: { button: "right" } }],
  }),
  hover: step(MOUSE, "hover {target:acted}", ["hover nav"], {
    acts: ({ target }) => [act(target, "clickable", "hover")],
  }),
  drag: step(MOUSE, "drag {from:acted} to {to:acted}", ["drag #card to #done"], {
    acts: ({ from, to }) => [act(from, "text", "dragTo", act(to, "text", "").on)],
  }),
  "scroll to": step(MOUSE, "scroll to {target:acted}", ["scroll to footer"], {
    acts: ({ target }) => [act(target, "text", "scrollIntoViewIfNeeded")],
  }),
  scroll: step(MOUSE, "scroll to {edge}", ["scroll to bottom"], {
    spec: ({ edge }, { page }) => [
      `await ${page}.evaluate(() => window.scrollTo(0, ${edge === "top" ? "0" : "document.documentElement.scrollHeight"}));`,
    ],
  }),
  wheel: step(MOUSE, "scroll {direction} [by {pixels}]", ["scroll down by 300px", "scroll down"], {
    acts: ({ direction, pixels = WHEEL_PX }) => {
      const [x, y] = DIRECTIONS[direction];
      return [onPage("mouse.wheel", x * pixels, y * pixels)];
    },
  }),
  fill: step(
    FIELDS,
    "fill {field} with {value}",
    ["fill label 'Email' with 'a@b.c'", "fill 'Password' with secret 'PASSWORD'"],
    {
      acts: ({ field, value }) => [act(field, "field", "fill", writing(value))],
    },
  ),
  type: step(FIELDS, "type {value} [into {field}]", ["type 'ber' into 'City'", "type 'hello'"], {
    acts: ({ value, field }) => [
      field === undefined
        ? onPage("keyboard.type", writing(value))
        : act(field, "field", "pressSequentially", writing(value)),
    ],
  }),
  press: step(FIELDS, "press {key} [on {field}]", ["press Control+A on 'Email'", "press Enter"], {
    acts: ({ key, field }) => [
      field === undefined ? onPage("keyboard.press", key) : act(field, "field", "press", key),
    ],
  }),
  check: step(FIELDS, "check {field}", ["check 'I agree'"], {
    acts: ({ field }) => [act(field, "field", "check")],
  }),
  uncheck: step(FIELDS, "uncheck {field}", ["uncheck 'I agree'"], {
    acts: ({ field }) => [act(field, "field", "uncheck")],
  }),
  select: step(FIELDS, "select {options:texts} in {field}", ["select 'Blue' in label 'Color'"], {
    acts: ({ options, field }) => [act(field, "field", "selectOption", sole(options))],
  }),
  upload: step(FIELDS, "upload {files:texts} to {field}", ["upload 'notes.txt' to label 'File'"], {
    acts: ({ files: names, field }) => [act(field, "field", "setInputFiles", files(names))],
  }),
  focus: step(FIELDS, "focus {control:field}", ["focus 'Email'"], {
    acts: ({ control }) => [act(control, "control", "focus")],
  }),
  clear: step(FIELDS, "clear {field}", ["clear 'Email'"], {
    acts: ({ field }) => [act(field, "field", "clear")],
  }),
  wait: step(WAIT, "wait for {duration}", ["wait for 500ms"], {
    spec: ({ duration }, { page }) => [`await ${page}.waitForTimeout(${duration});`],
  }),
  "wait for load": step(WAIT, "wait for load", ["wait for load"], {
    spec: (_, { page }) => [`await ${page}.waitForLoadState("load");`],
  }),
  "wait for idle": step(WAIT, "wait for network idle", ["wait for network idle"], {
    // Playwright advises against waiting for "networkidle"; the checks wait by themselves.
    spec: (_, spec) => settledLines(spec),
  }),
  "wait for": step(
    WAIT,
    "wait for {assertion:awaited}",
    ["wait for .spinner is hidden", "wait for h1", "wait for request to /api/items"],
    {
      spec: ({ assertion }, spec) => checkLines(assertion, spec),
    },
  ),
  expect: step(
    WAIT,
    "expect {assertion}",
    ["expect h1 contains 'Docs'", "expect download 'report.csv'"],
    {
      // In a spec, several in a row are one group of checks.
    },
  ),
  "accept dialog": step(
    DIALOGS,
    "accept dialog [with {text}]",
    ["accept dialog with 'yes'", "accept dialog"],
    {
      spec: ({ text }, spec) => answered(spec, `accept(${text === undefined ? "" : js(text)})`),
    },
  ),
  "dismiss dialog": step(DIALOGS, "dismiss dialog", ["dismiss dialog"], {
    spec: (_, spec) => answered(spec, "dismiss()"),
  }),
  "switch to new tab": step(TABS, "switch to new tab", ["switch to new tab"], {}),
  "switch to tab": step(TABS, "switch to tab {position}", ["switch to tab 1"], {}),
  "close tab": step(TABS, "close tab", ["close tab"], {}),
  ...AROUND_STEPS,
};
