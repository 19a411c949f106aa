import type { Act, Answer, Argument, RequestPattern } from "./ast.ts";
import type { Row } from "./checks.ts";
import { act, onPage, sole, writing } from "./locator.ts";
import type { ArgsOf } from "./values.ts";

/** A form of a step. */
export interface StepRow<Form extends string = string> extends Row<Form> {
  /** At the beginning of a script it runs before the page is opened. */
  readonly isSetup?: boolean;
  /** Its calls of Playwright's API; `page/steps.ts` performs the steps that have none, and `export/` prints them. */
  acts?(args: ArgsOf<Form>): readonly Act[];
}

const step = <Form extends string>(
  topic: string,
  form: Form,
  examples: Row["examples"],
  acts?: StepRow<Form>["acts"],
): StepRow<Form> => ({ topic, form, examples, ...(acts === undefined ? {} : { acts }) });

const setup = <Form extends string>(...row: Parameters<typeof step<Form>>): StepRow<Form> => ({
  ...step(...row),
  isSetup: true,
});

/** A route for matching requests. */
const routed = ({ glob, method }: RequestPattern, answer: Omit<Answer, "method">) => [
  onPage("context().route", { glob }, { method, ...answer }),
];

const GO = "go";
const MOUSE = "mouse";
const FIELDS = "keys and fields";
const WAIT = "wait";
const DIALOGS = "dialogs";
const TABS = "tabs";
const NETWORK = "network";
const STATE = "storage";
const REST = "the rest";

export const STEPS = {
  goto: step(GO, "goto|go_to|open|visit|navigate_to {url}", ["goto /login"]),
  back: step(GO, "go_back", ["go back"]),
  reload: step(GO, "reload|refresh|reload_the_page|refresh_the_page", ["reload"], () => [
    { ...onPage("reload"), timed: true },
  ]),
  click: step(MOUSE, "click|click_on {target:acted}", ["click button 'Save'"], ({ target }) => [
    act(target, "text", "click"),
  ]),
  "double click": step(
    MOUSE,
    "double_click|dblclick {target:acted}",
    ["double click first li"],
    ({ target }) => [act(target, "text", "dblclick")],
  ),
  hover: step(MOUSE, "hover|hover_over {target:acted}", ["hover nav"], ({ target }) => [
    act(target, "text", "hover"),
  ]),
  drag: step(MOUSE, "drag {from:acted} to {to:acted}", ["drag #card to #done"], ({ from, to }) => [
    act(from, "text", "dragTo", act(to, "text", "").on),
  ]),
  scroll: step(MOUSE, "scroll_to {edge}", ["scroll to bottom"]),
  "scroll to": step(MOUSE, "scroll_to {target:acted}", ["scroll to footer"], ({ target }) => [
    act(target, "text", "scrollIntoViewIfNeeded"),
  ]),
  fill: step(
    FIELDS,
    "fill {field} with {value}",
    ["fill label 'Email' with 'a@b.c'", "fill 'Password' with secret 'PASSWORD'"],
    ({ field, value }) => [act(field, "field", "fill", writing(value))],
  ),
  type: step(
    FIELDS,
    "type|enter {value} [into|in {field}]",
    ["type 'ber' into 'City'", "type 'hello'"],
    ({ value, field }) => [
      field === undefined
        ? onPage("keyboard.type", writing(value))
        : act(field, "field", "pressSequentially", writing(value)),
    ],
  ),
  press: step(
    FIELDS,
    "press {key} [on|in {field}]",
    ["press Control+A on 'Email'", "press Enter"],
    ({ key, field }) => [
      field === undefined ? onPage("keyboard.press", key) : act(field, "field", "press", key),
    ],
  ),
  check: step(FIELDS, "check|tick {field}", ["check 'I agree'"], ({ field }) => [
    act(field, "field", "check"),
  ]),
  uncheck: step(FIELDS, "uncheck|untick {field}", ["uncheck 'I agree'"], ({ field }) => [
    act(field, "field", "uncheck"),
  ]),
  select: step(
    FIELDS,
    "select|select_option {options:texts} in|from {field}",
    ["select 'Blue' in label 'Color'"],
    ({ options, field }) => [act(field, "field", "selectOption", sole(options))],
  ),
  upload: step(
    FIELDS,
    "upload {files:texts} to {field}",
    ["upload 'notes.txt' to label 'File'"],
    ({ files, field }) => {
      const all: readonly Argument[] = files.map((file) => ({ file }));
      return [act(field, "field", "setInputFiles", sole(all))];
    },
  ),
  clear: step(FIELDS, "clear {field}", ["clear 'Email'"], ({ field }) => [
    act(field, "field", "clear"),
  ]),
  wait: step(WAIT, "wait_for|wait {duration}", ["wait for 500ms"]),
  "wait for idle": step(WAIT, "wait_for network idle", ["wait for network idle"]),
  "wait for": step(WAIT, "wait_for|wait_until {assertion:rest}", [
    "wait for .spinner is hidden",
    "wait for h1",
    "wait for request to /api/items",
  ]),
  expect: step(WAIT, "expect|verify|assert {assertion:rest}", [
    "expect h1 contains 'Docs'",
    "expect download 'report.csv'",
  ]),
  "accept dialog": step(DIALOGS, "accept dialog [with {text}]", [
    "accept dialog with 'yes'",
    "accept dialog",
  ]),
  "switch to new tab": step(TABS, "switch_to new tab", ["switch to new tab"]),
  "switch to tab": step(TABS, "switch_to tab {position}", ["switch to tab 1"]),
  mock: setup(
    NETWORK,
    "mock {request} with {reply} [after {delay:duration}]",
    [
      "mock GET /api/users with 500",
      "mock /api/users with '[]'",
      "mock /api/users with 404 'gone'",
      "mock **/app.js with file 'app.js'",
      "mock /api/users with '[]' after 2s",
    ],
    ({ request, reply, delay }) => routed(request, { reply, delay }),
  ),
  har: setup(NETWORK, "use har {file:text}", ["use har 'shop.har'"]),
  block: setup(NETWORK, "block {request}", ["block **/ads/**"], ({ request }) =>
    routed(request, { reply: "blocked" }),
  ),
  offline: step(NETWORK, "offline", ["offline"], () => [onPage("context().setOffline", true)]),
  online: step(NETWORK, "online", ["online"], () => [onPage("context().setOffline", false)]),
  cookie: setup(STATE, "set cookie {name:text} to {value:text}", ["set cookie 'theme' to 'dark'"]),
  screenshot: step(
    REST,
    "screenshot|take_screenshot|take_a_screenshot [{name:text}] [of {target:acted}]",
    ["screenshot 'menu' of nav", "screenshot"],
  ),
};
