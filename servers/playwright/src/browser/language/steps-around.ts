import { js, printTarget } from "../export/print.ts";
import { NETWORK_SPEEDS } from "./ast.ts";
import { onPage, routed } from "./plan.ts";
import { type Spec, step } from "./rows.ts";

const NETWORK = "network";
const AROUND = "place and time";
const STATE = "signed-in state";
const REST = "the rest";

/** Where a spec keeps a saved state: the folder that Playwright's documentation on authentication uses. */
export const statePath = (name: string): string => `playwright/.auth/${name}.json`;

/** A throttling step as a command of the Chrome DevTools Protocol. */
export const CPU = "Emulation.setCPUThrottlingRate";
export const CONDITIONS = "Network.emulateNetworkConditions";
const sent = ({ page }: Spec, command: string, params: object) => [
  `await (await ${page}.context().newCDPSession(${page})).send(${js(command)}, ${JSON.stringify(params)});`,
];

/** The steps for what surrounds a page: its network, place, time, storage and screen. */
export const AROUND_STEPS = {
  mock: step(
    NETWORK,
    "mock {request} with {reply} [after {delay:duration}] [on the {nth} request]",
    [
      "mock GET /api/users with 500",
      "mock /api/users with '[]'",
      "mock /api/users with 404 'gone'",
      "mock **/app.js with file 'app.js'",
      "mock /api/users with 503 on the 2nd request",
      "mock /api/users with '[]' after 2s",
    ],
    {
      also: `(mock|stub|intercept|fake|route) [requests to|request to|calls to] {request} (with|to return|and return|returning|to respond with|and respond with|to reply with|to|to fail with|as) {reply} [(after|with a delay of) {delay:duration}] [on [the] {nth} request]
        (mock|stub|fake) [the] {nth} request to {request} (with|to return|and return) {reply} [after {delay:duration}]
        (replace|override|serve) [requests to|file|response of] {request:endpoint} (with|by|from) {reply} [on [the] {nth} request]`,
      isSetup: true,
      acts: ({ request, reply, delay, nth }) => [routed(request, { reply, delay, nth })],
    },
  ),
  delay: step(
    NETWORK,
    "delay {request} by {delay:duration} [on the {nth} request]",
    ["delay **/api/* by 2s"],
    {
      also: `(delay|slow down|hold|hold back) [requests to|all requests to|responses of|calls to] {request} (by|for) {delay:duration} [on [the] {nth} request]
        (delay|hold) [the] {nth} request to {request} (by|for) {delay:duration}`,
      isSetup: true,
      acts: ({ request, delay, nth }) => [routed(request, { reply: "sent", delay, nth })],
    },
  ),
  har: step(NETWORK, "use har {file:quoted}", ["use har 'shop.har'"], {
    also: `(use|replay|load|play back|respond from) har [file|recording] {file:quoted}
      (replay|mock|answer) [all] requests (from|with) har [file] {file:quoted}`,
    isSetup: true,
    acts: ({ file }) => [routed({ glob: "**", method: undefined }, { reply: { har: file } })],
    spec: ({ file }, { page }) => [
      `await ${page}.context().routeFromHAR(${js(file)}, { notFound: "fallback" });`,
    ],
  }),
  block: step(
    NETWORK,
    "block {request} [on the {nth} request]",
    ["block **/ads/**", "block **/api/* on the 3rd request"],
    {
      also: `(block|abort|intercept and abort) [requests to|all requests to|any requests to|calls to] {request} [on [the] {nth} request]
        (block|abort|fail) [the] {nth} request to {request}
        (fail|break) [requests to|all requests to|calls to] {request:endpoint}`,
      isSetup: true,
      acts: ({ request, nth }) => [routed(request, { reply: "blocked", nth })],
    },
  ),
  header: step(
    NETWORK,
    "set header {name:header} to {value:text}",
    ["set header 'Accept-Language' to 'de'"],
    {
      also: "(set|add|send|use) [the|a|an] [request|http|extra] header {name:header} (to|with value|with|as|=|:) {value:text}",
      isSetup: true,
      acts: ({ name, value }) => [
        routed(
          { glob: "**", method: undefined },
          { reply: { header: [name.toLowerCase(), value] } },
        ),
      ],
    },
  ),
  offline: step(NETWORK, "offline", ["offline"], {
    also: `(go|be|become|work) offline
      (set|switch|turn|put) (network|browser|page) [to] offline
      (simulate|emulate) [being] offline [mode]
      (turn off|disable|disconnect) (network|internet|network connection|internet connection)`,
    acts: () => [onPage("context().setOffline", true)],
  }),
  online: step(NETWORK, "online", ["online"], {
    also: `(go|be|come) [back] online
      (set|switch|turn|put) (network|browser|page) [back] [to] online
      (turn on|enable|restore) (network|internet|network connection|internet connection)`,
    acts: () => [onPage("context().setOffline", false)],
  }),
  "throttle network": step(
    NETWORK,
    "throttle network to {speed}",
    ["throttle network to slow 3g"],
    {
      also: `(throttle|limit|set|slow) network [speed|down] [to|as] {speed}
      (simulate|emulate|use) {speed} [network|connection]`,
      isSetup: true,
      spec: ({ speed }, spec) =>
        sent(spec, CONDITIONS, { offline: false, ...NETWORK_SPEEDS[speed] }),
    },
  ),
  "throttle cpu": step(NETWORK, "throttle cpu {rate}", ["throttle cpu 4x"], {
    also: "(throttle|slow) [the|down] [the] cpu [by|to|down] {rate}",
    isSetup: true,
    spec: ({ rate }, spec) => sent(spec, CPU, { rate }),
  }),
  geolocation: step(AROUND, "geolocation {place}", ["geolocation 52.52, 13.405"], {
    also: "(set|mock|use) [the|my] (geolocation|location|position) [to|as] {place}",
    isSetup: true,
    acts: ({ place }) => [
      onPage("context().grantPermissions", ["geolocation"]),
      onPage("context().setGeolocation", { ...place }),
    ],
  }),
  permission: step(AROUND, "grant permission {permission}", ["grant permission 'notifications'"], {
    also: "(grant|allow|give) [the] [permission|permissions] [for|to] {permission} [permission|permissions]",
    isSetup: true,
    acts: ({ permission }) => [onPage("context().grantPermissions", [permission])],
  }),
  "time zone": step(AROUND, "time zone {zone}", ["time zone 'Europe/Berlin'"], {
    also: "[set|use|change] (time zone|timezone) [to|as] {zone}",
    isSetup: true,
    // In the spec's `test.use`.
    spec: () => [],
  }),
  locale: step(AROUND, "locale {locale}", ["locale 'de-DE'"], {
    also: "(set|use|change) [the] (locale|language|browser language) [to|as] {locale}",
    isSetup: true,
    spec: () => [],
  }),
  clock: step(AROUND, "clock at {time:clock}", ["clock at '2026-12-24T18:00:00Z'"], {
    also: "(set|freeze|mock|fake) [the] (clock|time|date|system time|current time) (to|at|as) {time:clock}",
    isSetup: true,
    acts: ({ time }) => [onPage("clock.install", { time })],
  }),
  "fast forward": step(AROUND, "fast forward {duration}", ["fast forward 5m"], {
    also: "(fast-forward|advance|fast forward) [time|clock] [by] {duration}",
    acts: ({ duration }) => [onPage("clock.fastForward", duration)],
  }),
  cookie: step(STATE, "set cookie {name:text} to {value:text}", ["set cookie 'theme' to 'dark'"], {
    also: "(set|add|create) [the|a] cookie {name:text} (to|with value|with the value|with|as|=|:) {value:text}",
    isSetup: true,
    spec: ({ name, value }, { page, url }) => [
      `await ${page}.context().addCookies([{ name: ${js(name)}, value: ${js(value)}, url: ${js(new URL(url).origin)} }]);`,
    ],
  }),
  "local storage": step(
    STATE,
    "set localStorage {name:text} to {value:text}",
    ["set localStorage 'theme' to 'dark'"],
    {
      also: "(set|add) [the] localStorage [item|key] {name:text} (to|with value|with the value|with|as|=|:) {value:text}",
      isSetup: true,
      spec: ({ name, value }, { page, url }) => [
        `await ${page}.addInitScript(([origin, name, value]) => { if (location.origin === origin && localStorage.getItem(name) === null) localStorage.setItem(name, value); }, [${js(new URL(url).origin)}, ${js(name)}, ${js(value)}] as const);`,
        `if (${page}.url() !== "about:blank") await ${page}.evaluate(([name, value]) => localStorage.setItem(name, value), [${js(name)}, ${js(value)}] as const);`,
      ],
    },
  ),
  "save state": step(STATE, "save state {name:savedState}", ["save state 'admin'"], {
    also: "save [the] [session|login|auth|browser|storage|signed-in] state [as|to|under] {name:savedState}",
    spec: ({ name }, { page }) => [
      `await ${page}.context().storageState({ path: ${js(statePath(name))} });`,
    ],
  }),
  "use state": step(STATE, "use state {name:savedState}", ["use state 'admin'"], {
    also: "(use|load|restore|apply) [the] [session|login|auth|browser|storage|saved|signed-in] state [from|of] {name:savedState}",
    isSetup: true,
    spec: ({ name }, { page }) => [
      `await ${page}.context().setStorageState(${js(statePath(name))});`,
    ],
  }),
  viewport: step(REST, "viewport {size:viewport}", ["viewport 390x844"], {
    also: `(window|viewport|browser|screen) size is {size:viewport}
      (set|resize|change) [the|my] (viewport|window|browser|browser window|screen) [size|viewport] [to|as] {size:viewport}
      viewport [size] [of|to] {size:viewport}`,
    acts: ({ size }) => [onPage("setViewportSize", { ...size })],
  }),
  screenshot: step(
    REST,
    "screenshot [{name:quoted}] [of {target:acted}]",
    ["screenshot 'menu' of nav", "screenshot"],
    {
      also: `(take|capture|save|grab|make) [a|the] [full page|full-page|page] screenshot [named|as|called] [{name:quoted}] [of {target:acted}]
      (take|capture|save|grab) [a|the] [full page] screenshot [of|of the page|of the screen|of page] [(named|as|called) {name:quoted}]`,
      spec({ name = "screenshot", target }, { page }) {
        const of = target === undefined ? page : printTarget(target, page);
        const file = `${name}.png`.replace(/[^\w .-]/g, "-");
        return [`await ${of}.screenshot({ path: test.info().outputPath(${js(file)}) });`];
      },
    },
  ),
};
