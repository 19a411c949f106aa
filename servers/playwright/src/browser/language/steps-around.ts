import { js, printTarget } from "../export/print.ts";
import { NETWORK_SPEEDS } from "./ast.ts";
import { onPage } from "./plan.ts";
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
    "mock {request} with {reply}",
    [
      "mock GET /api/users with 500",
      "mock /api/users with '[]'",
      "mock /api/users with 404 'gone'",
      "mock /api/users with file 'users.json'",
    ],
    {
      also: "(mock|stub|intercept|fake|route) [requests to|request to|calls to|the] {request} (with|to return|and return|returning|to respond with|and respond with|to reply with|to|to fail with|as) {reply}",
      isSetup: true,
      acts: ({ request: { glob, method }, reply }) => [
        onPage("context().route", { glob }, { method, reply }),
      ],
    },
  ),
  block: step(NETWORK, "block {glob}", ["block **/ads/**"], {
    also: "(block|abort|intercept and abort) [requests to|all requests to|any requests to|calls to] {glob}",
    isSetup: true,
    acts: ({ glob }) => [onPage("context().route", { glob }, { method: undefined, reply: "blocked" })],
  }),
  header: step(
    NETWORK,
    "set header {name:header} to {value:text}",
    ["set header 'Accept-Language' to 'de'"],
    {
      also: "(set|add|send|use) [the|a|an] [request|http|extra] header {name:header} (to|with value|with|as|=|:) {value:text}",
      isSetup: true,
      acts: ({ name, value }) => [
        onPage(
          "context().route",
          { glob: "**" },
          { method: undefined, reply: { header: [name.toLowerCase(), value] } },
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
  "throttle network": step(NETWORK, "throttle network to {speed}", ["throttle network to slow 3g"], {
    also: `(throttle|limit|set|slow) network [speed|down] [to|as] {speed}
      (simulate|emulate|use) {speed} [network|connection]`,
    isSetup: true,
    spec: ({ speed }, spec) => sent(spec, CONDITIONS, { offline: false, ...NETWORK_SPEEDS[speed] }),
  }),
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
    spec: ({ name }, { page }) => [`await ${page}.context().storageState({ path: ${js(statePath(name))} });`],
  }),
  "use state": step(STATE, "use state {name:savedState}", ["use state 'admin'"], {
    also: "(use|load|restore|apply) [the] [session|login|auth|browser|storage|saved|signed-in] state [from|of] {name:savedState}",
    isSetup: true,
    spec: ({ name }, { page }) => [`await ${page}.context().setStorageState(${js(statePath(name))});`],
  }),
  viewport: step(REST, "viewport {size:viewport}", ["viewport 390x844"], {
    also: `(window|viewport|browser|screen) size is {size:viewport}
      (set|resize|change) [the|my] (viewport|window|browser|browser window|screen) [size|viewport] [to|as] {size:viewport}
      viewport [size] [of|to] {size:viewport}`,
    acts: ({ size }) => [onPage("setViewportSize", { ...size })],
  }),
  screenshot: step(
    REST,
    "screenshot [{name:quoted}] [of {target}]",
    ["screenshot 'menu' of nav", "screenshot"],
    {
      also: `(take|capture|save|grab|make) [a|the] [full page|full-page|page] screenshot [named|as|called] [{name:quoted}] [of {target}]
      (take|capture|save|grab) [a|the] [full page] screenshot [of|of the page|of the screen|of page] [(named|as|called) {name:quoted}]`,
      spec({ name = "screenshot", target }, { page }) {
        const of = target === undefined ? page : printTarget(target, page);
        const file = `${name}.png`.replace(/[^\w .-]/g, "-");
        return [`await ${of}.screenshot({ path: test.info().outputPath(${js(file)}) });`];
      },
    },
  ),
};
