import { anywhere } from "../text.ts";
import type { Act, Answer, Argument, RequestPattern, Target } from "./ast.ts";
import { type Row, row } from "./checks.ts";
import { act, onPage, sole } from "./locator.ts";
import type { ArgsOf } from "./values.ts";

/** A form of a step. */
export interface StepRow<Form extends string = string> extends Row<Form> {
  /** Its calls of Playwright's API; `page/steps.ts` performs the steps that have none, and `export/` prints them. */
  acts?(args: ArgsOf<Form>): readonly Act[];
}

const step = <Form extends string>(
  form: Form,
  acts: (args: ArgsOf<Form>) => Act | readonly Act[],
  examples: string,
): StepRow<Form> => ({ form, examples, acts: (args) => [acts(args)].flat() });

/** A call on the element that a sentence names. */
const on =
  (method: string) =>
  ({ target, times = 1 }: { readonly target: Target; readonly times?: number | undefined }) =>
    Array<Act>(times).fill(act(target, method));

/** Keys for a field, or for what has the focus. */
const keys = (name: "press" | "type", given: Argument, field: Target | undefined): Act =>
  field === undefined
    ? onPage(`keyboard.${name}`, given)
    : act(field, name === "type" ? "pressSequentially" : name, given);

/** A route for matching requests. */
const routed = ({ glob, method }: RequestPattern, answer: Omit<Answer, "method">) =>
  onPage("context().route", { glob }, { method, ...answer });

export const STEPS = {
  goto: row("goto|go_to|open|visit|navigate_to {url}", "goto /login"),
  back: row("go_back", "go back"),
  reload: step("reload|refresh|reload_the_page|refresh_the_page", () => onPage("reload"), "reload"),
  click: step(
    "click|click_on|tap|tap_on {target:acted} [{times}]",
    on("click"),
    "click button 'Save' · click 'More' 3 times",
  ),
  "right click": step(
    "right_click|right_click_on {target:acted}",
    ({ target }) => ({ ...act(target, "click"), options: { button: "right" } }),
    "right click 'notes.txt'",
  ),
  "double click": step("double_click|dblclick {target:acted}", on("dblclick"), "double click h1"),
  hover: step("hover|hover_over {target:acted}", on("hover"), "hover nav"),
  drag: step(
    "drag {from:acted} to {to:acted}",
    ({ from, to }) => act(from, "dragTo", act(to, "").on),
    "drag #card to #done",
  ),
  scroll: row("scroll_to [the] {edge}", "scroll to bottom"),
  "scroll to": step("scroll_to {target:acted}", on("scrollIntoViewIfNeeded"), "scroll to footer"),
  fill: step(
    "fill {field} with {value}",
    ({ field, value }) => act(field, "fill", value),
    "fill label 'Email' with 'a@b.c' · fill 'Password' with secret 'PASSWORD'",
  ),
  type: step(
    "type|enter {value} [into|in {field}]",
    ({ value, field }) => keys("type", value, field),
    "type 'ber' into 'City' · type 'hello'",
  ),
  press: step(
    "press {key} [{times}] [on|in {field}]",
    ({ key, times = 1, field }) => Array<Act>(times).fill(keys("press", key, field)),
    "press Control+A on 'Email' · press Enter · press Tab 3 times",
  ),
  check: step("check|tick {target:field}", on("check"), "check 'I agree'"),
  uncheck: step("uncheck|untick {target:field}", on("uncheck"), "uncheck 'I agree'"),
  select: step(
    "select|select_option {options:texts} in|from {field}",
    ({ options, field }) => act(field, "selectOption", sole(options)),
    "select 'Blue' in label 'Color'",
  ),
  upload: step(
    "upload {files:texts} to {field}",
    ({ files, field }) => act(field, "setInputFiles", sole(files.map((file) => ({ file })))),
    "upload 'notes.txt' to label 'File'",
  ),
  clear: step("clear {target:field}", on("clear"), "clear 'Email'"),
  wait: row("wait_for|wait {duration}", "wait for 500ms"),
  "wait for idle": row("wait_for network idle", "wait for network idle"),
  "wait for": row(
    "wait_for|wait_until {assertion:awaited}",
    "wait for .spinner is hidden · wait for h1 · wait for request to /api/items",
  ),
  expect: row(
    "expect|verify|assert {assertion}",
    "expect h1 contains 'Docs' · expect download 'report.csv'",
  ),
  "accept dialog": row("accept dialog [with {text}]", "accept dialog with 'yes' · accept dialog"),
  "dismiss dialog": row("dismiss|cancel dialog", "dismiss dialog"),
  "switch to tab": row("switch_to {tab}", "switch to new tab · switch to tab 1"),
  mock: step(
    "mock {request} with {reply} [after {delay:duration}]",
    ({ request, reply, delay }) => routed(request, { reply, delay }),
    "mock GET /api/users with 500 · mock /api/users with '[]' · mock /api/users with 404 'gone' · mock **/app.js with file 'app.js' · mock /api/users with '[]' after 2s",
  ),
  har: row("use har {file:text}", "use har 'shop.har'"),
  block: step(
    "block {request}",
    ({ request }) => routed({ ...request, glob: anywhere(request.glob) }, { reply: "blocked" }),
    "block **/ads/**",
  ),
  offline: step("offline|go_offline", () => onPage("context().setOffline", true), "offline"),
  online: step("online|go_online", () => onPage("context().setOffline", false), "online"),
  cookie: row("set cookie {name:text} to {value:text}", "set cookie 'theme' to 'dark'"),
  screenshot: row(
    "screenshot|take_screenshot|take_a_screenshot [{name:text}] [of {target:acted}]",
    "screenshot 'menu' of nav · screenshot",
  ),
};
/** At the beginning of a script they run before the page is opened. */
export const SETUP = new Set(["mock", "har", "block", "cookie"]);
