import { checkLines, settledLines } from "../export/checks.ts";
import { js, printAddress } from "../export/print.ts";
import { DIRECTIONS } from "./ast.ts";
import { type Argument, act, onPage, sole, writing } from "./plan.ts";
import type { Spec } from "./records.ts";
import { step } from "./step-row.ts";
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
  goto: step("goto {url}", {
    topic: GO,
    example: "goto /login",
    also: [
      "(visit|load|browse to|launch|access|head to|return to|start at|start on|go back to|browse|open the browser to|open the browser at|open browser to|go to url|open url|navigate to url|go|navigate) {url:address}",
      "(am on|am at|is on|is at|are on|be on|land on|be at) {url:address}",
      "(am|is|are) (currently|already|back|now) on {url:address}",
      "(have|has) (opened|visited|navigated to) {url:address}",
      "(go to|open|navigate to) {url:address}",
    ],
    spec: ({ url }, spec) => [`await ${spec.page}.goto(${printAddress(url, spec)});`],
  }),
  back: step("go back", {
    topic: GO,
    example: "go back",
    also: [
      "(navigate|browse|move|return) back",
      "(go|navigate|return) [back] to [the] previous page",
      "(press|click|hit) [the] [browser] back button",
      "back",
    ],
    spec: (_, { page }) => [`await ${page}.goBack();`],
  }),
  forward: step("go forward", {
    topic: GO,
    example: "go forward",
    also: ["(navigate|browse|move) forward", "forward"],
    spec: (_, { page }) => [`await ${page}.goForward();`],
  }),
  reload: step("reload", {
    topic: GO,
    example: "reload",
    also: ["(reload|refresh) [the|this|current|the current] [page|browser|site|window]"],
    acts: () => [{ ...onPage("reload"), timed: true }],
  }),
  click: step("click {target:clickable}", {
    topic: MOUSE,
    example: "click button 'Save'",
    loose: [
      "(choose|select|pick|follow|open|toggle|expand|collapse|view) [on] {target:clickable}",
      "(activate|trigger|launch|go to|navigate to) {target:seen}",
    ],
    also: ["(click|tap) [on|onto|at] {target:clickable}", "(press|push|hit|touch) [on|onto|at] {target}"],
    acts: ({ target }) => [act(target, "clickable", "click")],
  }),
  "click at": step("click [{target:clickable}] at {point}", {
    topic: MOUSE,
    example: "click canvas at 10, 20",
    examples: ["click at 10, 20"],
    also: ["(click|tap) [on] [{target:clickable}] at [the] (position|point|coordinates|offset) {point}"],
    acts: ({ target, point }) => [
      target === undefined
        ? onPage("mouse.click", point.x, point.y)
        : { ...act(target, "clickable", "click"), options: { position: point } },
    ],
  }),
  "double click": step("double click {target:clickable}", {
    topic: MOUSE,
    example: "double click first li",
    also: ["(double-click|doubleclick|double click|dblclick|double tap) [on] {target:clickable}"],
    acts: ({ target }) => [act(target, "clickable", "dblclick")],
  }),
  "right click": step("right click {target:clickable}", {
    topic: MOUSE,
    example: "right click nth 2 li",
    also: ["(right-click|rightclick|right click|context click) [on] {target:clickable}"],
    acts: ({ target }) => [{ ...act(target, "clickable", "click"), options: { button: "right" } }],
  }),
  hover: step("hover {target:clickable}", {
    topic: MOUSE,
    example: "hover nav",
    also: [
      "(hover|mouse|mouseover|point|move|hovering) [the mouse|mouse|the cursor|my mouse] [over|on|at|to|onto|above] {target:clickable}",
    ],
    acts: ({ target }) => [act(target, "clickable", "hover")],
  }),
  drag: step("drag {from:target} to {to:target}", {
    topic: MOUSE,
    example: "drag #card to #done",
    also: [
      "(drag|drag and drop|move|drop) {from:target} (to|onto|on|over|into|on to|in) {to:target}",
      "drag {from:target} and drop [it] (to|onto|on|over|into|in) {to:target}",
    ],
    acts: ({ from, to }) => [act(from, "text", "dragTo", act(to, "text", "").on)],
  }),
  "scroll to": step("scroll to {target}", {
    topic: MOUSE,
    example: "scroll to footer",
    also: [
      "scroll (to|down to|up to|until|into view|to view|to the|until i see|to see) {target}",
      "scroll {target} into view",
      "(bring|move) {target} into view",
      "scroll {target}",
    ],
    acts: ({ target }) => [act(target, "text", "scrollIntoViewIfNeeded")],
  }),
  scroll: step("scroll to {edge}", {
    topic: MOUSE,
    example: "scroll to bottom",
    also: ["scroll [down|up|all the way] [to] {edge}", "scroll {edge}"],
    spec: ({ edge }, { page }) => [
      `await ${page}.evaluate(() => window.scrollTo(0, ${edge === "top" ? "0" : "document.documentElement.scrollHeight"}));`,
    ],
  }),
  wheel: step("scroll {direction} [by {pixels}]", {
    topic: MOUSE,
    example: "scroll down by 300px",
    examples: ["scroll down"],
    also: [
      "scroll [the] [page] {direction} {pixels}",
      "scroll [the] page {direction} [by {pixels}]",
      "(scroll|page) {direction} [a bit|a little|the page|a page|one page]",
    ],
    acts: ({ direction, pixels = WHEEL_PX }) => {
      const [x, y] = DIRECTIONS[direction];
      return [onPage("mouse.wheel", x * pixels, y * pixels)];
    },
  }),
  fill: step("fill {field} with {value}", {
    topic: FIELDS,
    example: "fill label 'Email' with 'a@b.c'",
    loose: [
      "(enter|input) {value:given} {field}",
      "set {value:given} (to|in|into|for|on) {field:filled}",
      "(enter|input|fill|provide|specify|insert|write|supply|type) {field} : {value}",
    ],
    also: [
      "(fill|fill in|fill out|fill up|complete|populate|input|enter|type|write|replace|set) {field} (with|using|=|:) {value}",
      "(fill|fill in|fill out|populate|input|enter|type|write|set) {field} (as|by) {value:given}",
      "(enter|input|write|put|fill|fill in|key in|insert|provide|specify|add|paste|supply|give) {value} (in|into|to|for|as|on|inside|within|under|at|in to) {field}",
      "(set|change|update|edit|fill|fill in) {field} to {value}",
      "(enter|input|fill|fill in|provide|specify|set|add|insert|write|supply|type|key in|give) {field} [:] {value:given}",
      "search (for|with) {value} in {field}",
    ],
    examples: ["fill 'Password' with secret 'PASSWORD'"],
    acts: ({ field, value }) => [act(field, "field", "fill", writing(value))],
  }),
  type: step("type {value} [into {field}]", {
    topic: FIELDS,
    example: "type 'ber' into 'City'",
    also: [
      "(type|type in|enter|input|write|key in) {value:given}",
      "(type|type in) {value} (in|into|to|inside|on|for|as) {field}",
    ],
    examples: ["type 'hello'"],
    acts: ({ value, field }) => [
      field === undefined
        ? onPage("keyboard.type", writing(value))
        : act(field, "field", "pressSequentially", writing(value)),
    ],
  }),
  press: step("press {key} [on {field}]", {
    topic: FIELDS,
    example: "press Control+A on 'Email'",
    also: [
      "(press|hit|strike|tap|push|type|send|use) {key} [(on|in|at|inside|within|while on) {field}]",
      "(press|send) {key} (key|keys) [(on|in|to) {field}]",
    ],
    examples: ["press Enter"],
    acts: ({ key, field }) => [
      field === undefined ? onPage("keyboard.press", key) : act(field, "field", "press", key),
    ],
  }),
  check: step("check {field}", {
    topic: FIELDS,
    example: "check 'I agree'",
    also: [
      "(tick|mark|check off) {field}",
      "(select|choose|enable|turn on|switch on|toggle on|accept|pick|set|mark|tick|activate) {field:box}",
    ],
    acts: ({ field }) => [act(field, "field", "check")],
  }),
  uncheck: step("uncheck {field}", {
    topic: FIELDS,
    example: "uncheck 'I agree'",
    also: [
      "(untick|deselect|unselect|unmark|un-check) {field}",
      "(clear|disable|turn off|switch off|toggle off|deactivate) {field:box}",
    ],
    acts: ({ field }) => [act(field, "field", "uncheck")],
  }),
  select: step("select {options:texts} in {field}", {
    topic: FIELDS,
    example: "select 'Blue' in label 'Color'",
    also: [
      "(select|choose|pick) [option|the option|value|the value] {options:texts} [option|as] (in|from|for|on|under|within|at|of) {field}",
      "(select|choose|pick) {options:givens} as {field}",
      "(select|choose|pick) {field} {options:givens}",
      "(select|choose|pick) {field} (as|to|with|=|:) {options:givens}",
    ],
    acts: ({ options, field }) => [act(field, "field", "selectOption", sole(options))],
  }),
  upload: step("upload {files:texts} to {field}", {
    topic: FIELDS,
    example: "upload 'notes.txt' to label 'File'",
    also: [
      "(upload|attach|add) [file|the file|files|a file] {files:texts} (to|in|into|on|for|using|through|via|with|as|from) {field}",
      "upload {files:texts} in {field}",
    ],
    acts: ({ files: names, field }) => [act(field, "field", "setInputFiles", files(names))],
  }),
  focus: step("focus {control:field}", {
    topic: FIELDS,
    example: "focus 'Email'",
    also: [
      "(focus|set focus|put focus|move focus|place the cursor|put the cursor) (on|to|in|into) {control:field}",
    ],
    acts: ({ control }) => [act(control, "control", "focus")],
  }),
  clear: step("clear {field}", {
    topic: FIELDS,
    example: "clear 'Email'",
    also: [
      "(empty|erase|reset) {field}",
      "(leave|keep) {field} (blank|empty)",
      "(clear|delete|erase|remove|empty) [the|all] (text|value|content|contents|input) (of|in|from|inside) {field}",
    ],
    acts: ({ field }) => [act(field, "field", "clear")],
  }),
  wait: step("wait for {duration}", {
    topic: WAIT,
    example: "wait for 500ms",
    also: ["(wait|pause|sleep|delay) [for|about|at least|another|for about] {duration}", "wait {duration}"],
    spec: ({ duration }, { page }) => [`await ${page}.waitForTimeout(${duration});`],
  }),
  "wait for load": step("wait for load", {
    topic: WAIT,
    example: "wait for load",
    also: [
      "wait (for|until|till) [the] (navigation|page load|load event|page to load|page to be loaded|page loads|page is loaded|page has loaded|page finishes loading|page has finished loading|page is fully loaded|page to fully load|navigation to finish|navigation to complete|page to finish loading|page to be fully loaded|page load to complete|new page to load|redirect|site to load|page is ready|page to be ready|everything to load)",
      "wait load",
    ],
    spec: (_, { page }) => [`await ${page}.waitForLoadState("load");`],
  }),
  "wait for idle": step("wait for network idle", {
    topic: WAIT,
    example: "wait for network idle",
    also: [
      "wait (for|until|till) [the] (network is idle|network to be idle|networkidle|network idle|network to become idle|network becomes idle|all requests to finish|requests to finish|all network requests to complete|network to settle|network settles)",
      "wait network idle",
    ],
    // Playwright advises against waiting for "networkidle"; the checks wait by themselves.
    spec: (_, spec) => settledLines(spec),
  }),
  "wait for": step("wait for {assertion:awaited}", {
    topic: WAIT,
    example: "wait for .spinner is hidden",
    examples: ["wait for h1", "wait for request to /api/items"],
    also: ["wait (until|till|to see|for) {assertion:awaited}", "wait {assertion:awaited}"],
    spec: ({ assertion }, spec) => checkLines(assertion, spec),
  }),
  expect: step("expect {assertion}", {
    topic: WAIT,
    example: "expect h1 contains 'Docs'",
    loose: ["{assertion}"],
    // In a spec, several in a row are one group of checks.
    examples: ["expect download 'report.csv'"],
  }),
  "accept dialog": step("accept dialog [with {text}]", {
    topic: DIALOGS,
    example: "accept dialog with 'yes'",
    also: [
      "(accept|confirm|approve|ok) [the|a|an|this] dialog [with {text}]",
      "(click|press) ok (on|in) [the|a|an] dialog",
      "answer [the|a|an] dialog with {text}",
    ],
    examples: ["accept dialog"],
    spec: ({ text }, spec) => answered(spec, `accept(${text === undefined ? "" : js(text)})`),
  }),
  "dismiss dialog": step("dismiss dialog", {
    topic: DIALOGS,
    example: "dismiss dialog",
    also: [
      "(dismiss|cancel|reject|decline) [the|a|an|this] dialog",
      "(click|press) cancel (on|in) [the|a|an] dialog",
    ],
    spec: (_, spec) => answered(spec, "dismiss()"),
  }),
  "switch to new tab": step("switch to new tab", {
    topic: TABS,
    example: "switch to new tab",
    also: [
      "(switch|change|move|go|focus) (to|on) [the] (new|newly opened|next|latest|newly opened|other|opened) tab",
    ],
  }),
  "switch to tab": step("switch to tab {position}", {
    topic: TABS,
    example: "switch to tab 1",
    also: [
      "(switch|change|move|go|focus|return) (to|back to|on) [the] tab [number|with index|index|no] {position}",
      [
        "(switch|change|move|go|focus|return) (to|back to) [the] (first|original|main|previous|initial) tab",
        { position: 1 },
      ],
      ["(switch|change|move|go|focus|return) (to|back to) [the] second tab", { position: 2 }],
    ],
  }),
  "close tab": step("close tab", {
    topic: TABS,
    example: "close tab",
    also: ["close [the|this|current|the current|the new|new] tab"],
  }),
  ...AROUND_STEPS,
};
