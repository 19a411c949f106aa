import { assertionLines, checkLines, settledLines } from "../export/checks.ts";
import { js, printTarget } from "../export/print.ts";
import { NETWORK_SPEEDS } from "./ast.ts";
import type { Args, ArgsOf } from "./pattern.ts";
import { type Act, type Argument, act, onPage, sole, writing } from "./plan.ts";
import type { Spec } from "./records.ts";

/** A form of a step. */
export interface StepRow<Form extends string = string> {
  /** Its canonical wording. */
  readonly form: Form;
  /** Other wordings, with the values that they imply. */
  readonly also: readonly (string | readonly [form: string, implied: Args])[];
  readonly example: string;
  /** Its part of the reference, and other examples there. */
  readonly topic: string;
  readonly examples?: readonly string[];
  /** A setup step: at the beginning of a script it runs before the page is opened. */
  readonly isSetup?: boolean;
  /** Its calls of Playwright's API; `session/steps.ts` performs the steps that have none. */
  acts?(args: ArgsOf<Form>): readonly Act[];
  /** Its lines in a spec, if they are not these calls. */
  spec?(args: ArgsOf<Form>, spec: Spec): string[];
}

const step = <Form extends string>(
  form: Form,
  row: Omit<StepRow<Form>, "form" | "also"> & Partial<Pick<StepRow<Form>, "also">>,
): StepRow<Form> => ({ form, also: [], ...row });

const GO = "go";
const MOUSE = "mouse";
const FIELDS = "keys and fields";
const WAIT = "wait";
const DIALOGS = "dialogs";
const TABS = "tabs";
const NETWORK = "network";
const AROUND = "place and time";
const STATE = "signed-in state";
const REST = "the rest";

const files = (names: readonly string[]): Argument => sole(names.map((file) => ({ file })));

/** Where a spec keeps a saved state: the folder that Playwright's documentation on authentication uses. */
export const statePath = (name: string): string => `playwright/.auth/${name}.json`;

/** A throttling step as a command of the Chrome DevTools Protocol. */
export const CPU = "Emulation.setCPUThrottlingRate";
export const CONDITIONS = "Network.emulateNetworkConditions";
const sent = ({ page }: Spec, command: string, params: object) => [
  `await (await ${page}.context().newCDPSession(${page})).send(${js(command)}, ${JSON.stringify(params)});`,
];
/** The answer to the next dialog in a spec. */
const answered = ({ needs, page }: Spec, answer: string) =>
  needs.has("dialogs")
    ? [`answers.push((dialog) => dialog.${answer});`]
    : [`${page}.once("dialog", (dialog) => dialog.${answer});`];

export const STEPS = {
  goto: step("goto {url}", {
    topic: GO,
    example: "goto /login",
    also: ["(go to|open|navigate to) {url}"],
    spec: ({ url }, { page }) => [
      /^https?:/i.test(url)
        ? `await ${page}.goto(${js(url)});`
        : `await ${page}.goto(new URL(${js(url)}, ${page}.url()).href);`,
    ],
  }),
  back: step("go back", {
    topic: GO,
    example: "go back",
    also: ["back"],
    spec: (_, { page }) => [`await ${page}.goBack();`],
  }),
  forward: step("go forward", {
    topic: GO,
    example: "go forward",
    also: ["forward"],
    spec: (_, { page }) => [`await ${page}.goForward();`],
  }),
  reload: step("reload", {
    topic: GO,
    example: "reload",
    acts: () => [{ ...onPage("reload"), timed: true }],
  }),
  click: step("click {target:clickable}", {
    topic: MOUSE,
    example: "click button 'Save'",
    acts: ({ target }) => [act(target, "clickable", "click")],
  }),
  "double click": step("double click {target:clickable}", {
    topic: MOUSE,
    example: "double click first li",
    acts: ({ target }) => [act(target, "clickable", "dblclick")],
  }),
  "right click": step("right click {target:clickable}", {
    topic: MOUSE,
    example: "right click nth 2 li",
    acts: ({ target }) => [{ ...act(target, "clickable", "click"), options: { button: "right" } }],
  }),
  hover: step("hover {target:clickable}", {
    topic: MOUSE,
    example: "hover nav",
    acts: ({ target }) => [act(target, "clickable", "hover")],
  }),
  drag: step("drag {from:target} to {to:target}", {
    topic: MOUSE,
    example: "drag #card to #done",
    acts: ({ from, to }) => [act(from, "text", "dragTo", act(to, "text", "").on)],
  }),
  "scroll to": step("scroll to {target}", {
    topic: MOUSE,
    example: "scroll to footer",
    also: ["scroll {target}"],
    acts: ({ target }) => [act(target, "text", "scrollIntoViewIfNeeded")],
  }),
  scroll: step("scroll to {edge}", {
    topic: MOUSE,
    example: "scroll to bottom",
    also: ["scroll {edge}"],
    spec: ({ edge }, { page }) => [
      `await ${page}.evaluate(() => window.scrollTo(0, ${edge === "top" ? "0" : "document.documentElement.scrollHeight"}));`,
    ],
  }),
  fill: step("fill {field} with {value}", {
    topic: FIELDS,
    example: "fill label 'Email' with 'a@b.c'",
    examples: ["fill 'Password' with secret 'PASSWORD'"],
    acts: ({ field, value }) => [act(field, "field", "fill", writing(value))],
  }),
  type: step("type {value} [into {field}]", {
    topic: FIELDS,
    example: "type 'ber' into 'City'",
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
    examples: ["press Enter"],
    acts: ({ key, field }) => [
      field === undefined ? onPage("keyboard.press", key) : act(field, "field", "press", key),
    ],
  }),
  check: step("check {field}", {
    topic: FIELDS,
    example: "check 'I agree'",
    acts: ({ field }) => [act(field, "field", "check")],
  }),
  uncheck: step("uncheck {field}", {
    topic: FIELDS,
    example: "uncheck 'I agree'",
    acts: ({ field }) => [act(field, "field", "uncheck")],
  }),
  select: step("select {options:texts} in {field}", {
    topic: FIELDS,
    example: "select 'Blue' in label 'Color'",
    acts: ({ options, field }) => [act(field, "field", "selectOption", sole(options))],
  }),
  upload: step("upload {files:texts} to {field}", {
    topic: FIELDS,
    example: "upload 'notes.txt' to label 'File'",
    also: ["upload {files:texts} in {field}"],
    acts: ({ files: names, field }) => [act(field, "field", "setInputFiles", files(names))],
  }),
  focus: step("focus {control:field}", {
    topic: FIELDS,
    example: "focus 'Email'",
    acts: ({ control }) => [act(control, "control", "focus")],
  }),
  clear: step("clear {field}", {
    topic: FIELDS,
    example: "clear 'Email'",
    acts: ({ field }) => [act(field, "field", "clear")],
  }),
  wait: step("wait for {duration}", {
    topic: WAIT,
    example: "wait for 500ms",
    also: ["wait {duration}"],
    spec: ({ duration }, { page }) => [`await ${page}.waitForTimeout(${duration});`],
  }),
  "wait for load": step("wait for load", {
    topic: WAIT,
    example: "wait for load",
    also: ["wait load"],
    spec: (_, { page }) => [`await ${page}.waitForLoadState("load");`],
  }),
  "wait for idle": step("wait for network idle", {
    topic: WAIT,
    example: "wait for network idle",
    also: ["wait network idle"],
    // Playwright advises against waiting for "networkidle"; the checks wait by themselves.
    spec: (_, spec) => settledLines(spec),
  }),
  "wait for": step("wait for {assertion:awaited}", {
    topic: WAIT,
    example: "wait for .spinner is hidden",
    examples: ["wait for h1", "wait for request to /api/items"],
    also: ["wait {assertion:awaited}"],
    spec: ({ assertion }, spec) => checkLines(assertion, spec),
  }),
  expect: step("expect {assertion}", {
    topic: WAIT,
    example: "expect h1 contains 'Docs'",
    examples: ["expect download 'report.csv'"],
    spec: ({ assertion }, spec) => assertionLines([assertion], spec),
  }),
  "accept dialog": step("accept dialog [with {text}]", {
    topic: DIALOGS,
    example: "accept dialog with 'yes'",
    examples: ["accept dialog"],
    spec: ({ text }, spec) => answered(spec, `accept(${text === undefined ? "" : js(text)})`),
  }),
  "dismiss dialog": step("dismiss dialog", {
    topic: DIALOGS,
    example: "dismiss dialog",
    spec: (_, spec) => answered(spec, "dismiss()"),
  }),
  "switch to new tab": step("switch to new tab", { topic: TABS, example: "switch to new tab" }),
  "switch to tab": step("switch to tab {position}", { topic: TABS, example: "switch to tab 1" }),
  "close tab": step("close tab", { topic: TABS, example: "close tab" }),
  mock: step("mock {request} with {reply}", {
    topic: NETWORK,
    example: "mock GET /api/users with 500",
    examples: [
      "mock /api/users with '[]'",
      "mock /api/users with 404 'gone'",
      "mock /api/users with file 'users.json'",
    ],
    isSetup: true,
    acts: ({ request: { glob, method }, reply }) => [onPage("context().route", { glob }, { method, reply })],
  }),
  block: step("block {glob}", {
    topic: NETWORK,
    example: "block **/ads/**",
    isSetup: true,
    acts: ({ glob }) => [onPage("context().route", { glob }, { method: undefined, reply: "blocked" })],
  }),
  offline: step("offline", {
    topic: NETWORK,
    example: "offline",
    acts: () => [onPage("context().setOffline", true)],
  }),
  online: step("online", {
    topic: NETWORK,
    example: "online",
    acts: () => [onPage("context().setOffline", false)],
  }),
  "throttle network": step("throttle network to {speed}", {
    topic: NETWORK,
    example: "throttle network to slow 3g",
    also: ["throttle network {speed}"],
    isSetup: true,
    spec: ({ speed }, spec) => sent(spec, CONDITIONS, { offline: false, ...NETWORK_SPEEDS[speed] }),
  }),
  "throttle cpu": step("throttle cpu {rate}", {
    topic: NETWORK,
    example: "throttle cpu 4x",
    isSetup: true,
    spec: ({ rate }, spec) => sent(spec, CPU, { rate }),
  }),
  geolocation: step("geolocation {place}", {
    topic: AROUND,
    example: "geolocation 52.52, 13.405",
    isSetup: true,
    acts: ({ place }) => [
      onPage("context().grantPermissions", ["geolocation"]),
      onPage("context().setGeolocation", { ...place }),
    ],
  }),
  permission: step("grant permission {permission}", {
    topic: AROUND,
    example: "grant permission 'notifications'",
    isSetup: true,
    acts: ({ permission }) => [onPage("context().grantPermissions", [permission])],
  }),
  "time zone": step("time zone {zone}", {
    topic: AROUND,
    example: "time zone 'Europe/Berlin'",
    isSetup: true,
    // In the spec's `test.use`.
    spec: () => [],
  }),
  locale: step("locale {locale}", {
    topic: AROUND,
    example: "locale 'de-DE'",
    isSetup: true,
    spec: () => [],
  }),
  clock: step("clock at {time:clock}", {
    topic: AROUND,
    example: "clock at '2026-12-24T18:00:00Z'",
    isSetup: true,
    acts: ({ time }) => [onPage("clock.install", { time })],
  }),
  "fast forward": step("fast forward {duration}", {
    topic: AROUND,
    example: "fast forward 5m",
    acts: ({ duration }) => [onPage("clock.fastForward", duration)],
  }),
  "save state": step("save state {name:savedState}", {
    topic: STATE,
    example: "save state 'admin'",
    spec: ({ name }, { page }) => [`await ${page}.context().storageState({ path: ${js(statePath(name))} });`],
  }),
  "use state": step("use state {name:savedState}", {
    topic: STATE,
    example: "use state 'admin'",
    isSetup: true,
    spec: ({ name }, { page }) => [`await ${page}.context().setStorageState(${js(statePath(name))});`],
  }),
  viewport: step("viewport {size:viewport}", {
    topic: REST,
    example: "viewport 390x844",
    acts: ({ size }) => [onPage("setViewportSize", { ...size })],
  }),
  screenshot: step("screenshot [{name:quoted}] [of {target}]", {
    topic: REST,
    example: "screenshot 'menu' of nav",
    examples: ["screenshot"],
    spec({ name = "screenshot", target }, { page }) {
      const of = target === undefined ? page : printTarget(target, page);
      const file = `${name}.png`.replace(/[^\w .-]/g, "-");
      return [`await ${of}.screenshot({ path: test.info().outputPath(${js(file)}) });`];
    },
  }),
};
