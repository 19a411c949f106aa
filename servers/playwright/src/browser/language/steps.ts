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
    also: `(visit|load|browse to|launch|access|head to|return to|start at|start on|go back to|browse|open the browser to|open the browser at|open browser to|go to url|open url|navigate to url|go|navigate|go to|open|navigate to) {url:address}
      [am|is|are|be|land] [currently|already|back|now] (on|at|in) {url:address}`,
    spec: ({ url }, spec) => [`await ${spec.page}.goto(${printAddress(url, spec)});`],
  }),
  back: step(GO, "go back", ["go back"], {
    also: `(navigate|browse|move|return|go) back [to the previous page|to previous page]
      (go|navigate|return) to [the] previous page
      (press|click|hit) [the] [browser] back button
      back`,
    spec: (_, { page }) => [`await ${page}.goBack();`],
  }),
  forward: step(GO, "go forward", ["go forward"], {
    also: "[navigate|browse|move] forward",
    spec: (_, { page }) => [`await ${page}.goForward();`],
  }),
  reload: step(GO, "reload", ["reload"], {
    also: "(reload|refresh) [the|this|current|the current] [page|browser|site|window]",
    acts: () => [{ ...onPage("reload"), timed: true }],
  }),
  click: step(MOUSE, "click {target:clickable}", ["click button 'Save'"], {
    also: `(click|tap) [on|onto|at] {target:clickable}
      (press|push|hit|touch) [on|onto|at] {target:linked}
      {target:command}
      ~ (follow|toggle|expand|collapse) [on] {target:clickable}
      ~ (open|view) [on] {target:opened}
      ~ (choose|select|pick) [on] {target:chosen}
      ~ (switch|change|move|go) to {target:sheet}
      ~ (activate|trigger|launch|go to|navigate to) {target:visited}`,
    acts: ({ target }) => [act(target, "clickable", "click")],
  }),
  "click at": step(
    MOUSE,
    "click [{target:clickable}] at {point}",
    ["click canvas at 10, 20", "click at 10, 20"],
    {
      also: "(click|tap) [on] [{target:clickable}] at [the] (position|point|coordinates|offset) {point}",
      acts: ({ target, point }) => [
        target === undefined
          ? onPage("mouse.click", point.x, point.y)
          : { ...act(target, "clickable", "click"), options: { position: point } },
      ],
    },
  ),
  "double click": step(MOUSE, "double click {target:clickable}", ["double click first li"], {
    also: "(double-click|doubleclick|double click|dblclick|double tap) [on] {target:clickable}",
    acts: ({ target }) => [act(target, "clickable", "dblclick")],
  }),
  "right click": step(MOUSE, "right click {target:clickable}", ["right click nth 2 li"], {
    also: "(right-click|rightclick|right click|context click) [on] {target:clickable}",
    acts: ({ target }) => [{ ...act(target, "clickable", "click"), options: { button: "right" } }],
  }),
  hover: step(MOUSE, "hover {target:clickable}", ["hover nav"], {
    also: `(hover|mouse|mouseover|hovering) [over|over to|on|at|to|onto|above] {target:clickable}
      (hover|move|point) (mouse|cursor) [over|on|at|to|onto|above] {target:clickable}`,
    acts: ({ target }) => [act(target, "clickable", "hover")],
  }),
  drag: step(MOUSE, "drag {from:acted} to {to:acted}", ["drag #card to #done"], {
    also: `(drag|drag and drop|move|drop) {from:acted} (to|onto|on|over|into|on to|in) {to:acted}
      drag {from:acted} and drop [it] (to|onto|on|over|into|in) {to:acted}`,
    acts: ({ from, to }) => [act(from, "text", "dragTo", act(to, "text", "").on)],
  }),
  "scroll to": step(MOUSE, "scroll to {target:acted}", ["scroll to footer"], {
    also: `scroll [to|down to|up to|until|into view|to view|until i see|to see] {target:acted}
      (scroll|bring|move) {target:acted} into view`,
    acts: ({ target }) => [act(target, "text", "scrollIntoViewIfNeeded")],
  }),
  scroll: step(MOUSE, "scroll to {edge}", ["scroll to bottom"], {
    also: "scroll [down|up|all the way] [to] {edge}",
    spec: ({ edge }, { page }) => [
      `await ${page}.evaluate(() => window.scrollTo(0, ${edge === "top" ? "0" : "document.documentElement.scrollHeight"}));`,
    ],
  }),
  wheel: step(MOUSE, "scroll {direction} [by {pixels}]", ["scroll down by 300px", "scroll down"], {
    also: "(scroll|page) [the] [page] {direction} [by] [{pixels}] [a bit|a little|the page|a page|one page]",
    acts: ({ direction, pixels = WHEEL_PX }) => {
      const [x, y] = DIRECTIONS[direction];
      return [onPage("mouse.wheel", x * pixels, y * pixels)];
    },
  }),
  fill: step(
    FIELDS,
    "fill {field:writable} with {value}",
    ["fill label 'Email' with 'a@b.c'", "fill 'Password' with secret 'PASSWORD'"],
    {
      also: `(fill|fill in|fill out|fill up|complete|populate|input|enter|type|write|replace|set) {field:writable} (with|using|=|:) {value}
        (fill|fill in|fill out|populate|input|enter|type|write|set) {field:writable} (as|by) {value:given}
        (set|use|choose) {value:given} as {field:writable}
        (enter|input|write|put|fill|fill in|key in|insert|provide|specify|add|paste|supply|give) {value} (in|into|to|for|as|on|inside|within|under|at|in to) {field:writable}
        (set|change|update|edit|fill|fill in) {field:writable} to {value}
        (enter|input|fill|fill in|provide|specify|set|add|insert|write|supply|type|key in|give) {field:writable} [:] {value:given}
        search (for|with) {value} in {field:writable}
        search [for|with] {value:given}{field:search}
        ~ (enter|input) {value:given} {field:writable}
        ~ set {value:given} (to|in|into|for|on) {field:input}
        ~ (enter|input|fill|provide|specify|insert|write|supply|type) {field:writable} : {value}`,
      acts: ({ field, value }) => [act(field, "field", "fill", writing(value))],
    },
  ),
  type: step(
    FIELDS,
    "type {value} [into {field:writable}]",
    ["type 'ber' into 'City'", "type 'hello'"],
    {
      also: `(type|type in|enter|input|write|key in) {value:given}
      (type|type in) {value} (in|into|to|inside|on|for|as) {field:writable}`,
      acts: ({ value, field }) => [
        field === undefined
          ? onPage("keyboard.type", writing(value))
          : act(field, "field", "pressSequentially", writing(value)),
      ],
    },
  ),
  press: step(FIELDS, "press {key} [on {field}]", ["press Control+A on 'Email'", "press Enter"], {
    also: "(press|hit|strike|tap|push|type|send|use) {key} [key|keys] [(on|in|at|inside|within|while on) {field}]",
    acts: ({ key, field }) => [
      field === undefined ? onPage("keyboard.press", key) : act(field, "field", "press", key),
    ],
  }),
  check: step(FIELDS, "check {field}", ["check 'I agree'"], {
    also: `(tick|mark|check off) {field} [as (completed|complete|done|checked|selected)]
      (select|choose|enable|turn on|switch on|toggle on|accept|pick|set|mark|tick|activate) {field:box}`,
    acts: ({ field }) => [act(field, "field", "check")],
  }),
  uncheck: step(FIELDS, "uncheck {field}", ["uncheck 'I agree'"], {
    also: `(untick|deselect|unselect|unmark|un-check) {field}
      (clear|disable|turn off|switch off|toggle off|deactivate) {field:box}`,
    acts: ({ field }) => [act(field, "field", "uncheck")],
  }),
  select: step(FIELDS, "select {options:texts} in {field}", ["select 'Blue' in label 'Color'"], {
    also: `(select|choose|pick) {options:choices} [option|value|as] (in|from|for|on|under|within|at|of) {field:listed}
      (select|choose|pick) {options:givens} as {field}
      (select|choose|pick) {options:givens} {field:dropdown}
      (select|choose|pick) {field} {options:givens}
      (select|choose|pick) {field} (as|to|with|=|:) {options:givens}`,
    acts: ({ options, field }) => [act(field, "field", "selectOption", sole(options))],
  }),
  upload: step(FIELDS, "upload {files:texts} to {field}", ["upload 'notes.txt' to label 'File'"], {
    also: `(upload|attach|add) [file|files] {files:texts} (to|in|into|on|for|using|through|via|with|as|from) {field}
      (upload|attach|choose file|choose files|select file|select files) [file|files] {files:givens}{field:upload}`,
    acts: ({ files: names, field }) => [act(field, "field", "setInputFiles", files(names))],
  }),
  focus: step(FIELDS, "focus {control:field}", ["focus 'Email'"], {
    also: "(focus|set focus|put focus|move focus|place the cursor|put the cursor) (on|to|in|into) {control:field}",
    acts: ({ control }) => [act(control, "control", "focus")],
  }),
  clear: step(FIELDS, "clear {field}", ["clear 'Email'"], {
    also: `(empty|erase|reset) {field}
      (leave|keep) {field} (blank|empty)
      (clear|delete|erase|remove|empty) [the|all] (text|value|contents|input) (of|in|from|inside) {field}`,
    acts: ({ field }) => [act(field, "field", "clear")],
  }),
  wait: step(WAIT, "wait for {duration}", ["wait for 500ms"], {
    also: "(wait|pause|sleep|delay) [for|about|at least|another|for about|max|max of|up to] {duration}",
    spec: ({ duration }, { page }) => [`await ${page}.waitForTimeout(${duration});`],
  }),
  "wait for load": step(WAIT, "wait for load", ["wait for load"], {
    also: "wait [for|until|till] (load|navigation|page load|load event|page to load|page to be loaded|page loads|page is loaded|page has loaded|page finishes loading|page has finished loading|page is fully loaded|page to fully load|navigation to finish|navigation to complete|page to finish loading|page to be fully loaded|page load to complete|new page to load|redirect|site to load|page is ready|page to be ready|everything to load)",
    spec: (_, { page }) => [`await ${page}.waitForLoadState("load");`],
  }),
  "wait for idle": step(WAIT, "wait for network idle", ["wait for network idle"], {
    also: "wait [for|until|till] (network is idle|network to be idle|networkidle|network idle|network to become idle|network becomes idle|all requests to finish|requests to finish|all network requests to complete|ajax to finish|ajax requests to finish|ajax calls to finish|ajax response|network to settle|network settles)",
    // Playwright advises against waiting for "networkidle"; the checks wait by themselves.
    spec: (_, spec) => settledLines(spec),
  }),
  "wait for": step(
    WAIT,
    "wait for {assertion:awaited}",
    ["wait for .spinner is hidden", "wait for h1", "wait for request to /api/items"],
    {
      also: `wait [until|till|to see|for] {assertion:awaited}
        wait [for] [up to|at most|max|max of|a maximum of] {assertion.within:duration} (for|until|to see) {assertion:awaited}`,
      spec: ({ assertion }, spec) => checkLines(assertion, spec),
    },
  ),
  expect: step(
    WAIT,
    "expect {assertion}",
    ["expect h1 contains 'Docs'", "expect download 'report.csv'"],
    {
      // In a spec, several in a row are one group of checks.
      also: "~ {assertion}",
    },
  ),
  "accept dialog": step(
    DIALOGS,
    "accept dialog [with {text}]",
    ["accept dialog with 'yes'", "accept dialog"],
    {
      also: `(accept|confirm|approve|ok) [this] dialog [with {text}]
        (click|press) ok (on|in) dialog
        answer dialog with {text}`,
      spec: ({ text }, spec) => answered(spec, `accept(${text === undefined ? "" : js(text)})`),
    },
  ),
  "dismiss dialog": step(DIALOGS, "dismiss dialog", ["dismiss dialog"], {
    also: `(dismiss|cancel|reject|decline) [this] dialog
      (click|press) cancel (on|in) dialog`,
    spec: (_, spec) => answered(spec, "dismiss()"),
  }),
  "switch to new tab": step(TABS, "switch to new tab", ["switch to new tab"], {
    also: "(switch|change|move|go|focus) (to|on) [the] (new|newly opened|next|latest|newly opened|other|opened) tab",
  }),
  "switch to tab": step(TABS, "switch to tab {position}", ["switch to tab 1"], {
    also: `(switch|change|move|go|focus|return) (to|back to|on) [the] tab [number|with index|index|no] {position}
      (switch|change|move|go|focus|return) (to|back to) [the] (first|original|main|previous|initial) tab => position=1
      (switch|change|move|go|focus|return) (to|back to) [the] second tab => position=2`,
  }),
  "close tab": step(TABS, "close tab", ["close tab"], {
    also: "close [the|this|current|the current|the new|new] tab",
  }),
  ...AROUND_STEPS,
};
