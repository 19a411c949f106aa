import { js, printTarget } from "../export/print.ts";
import { NETWORK_SPEEDS } from "./ast.ts";
import { onPage, routed } from "./plan.ts";
import { type Spec, step } from "./rows.ts";

const NETWORK = "network";
const AROUND = "place and time";
const STATE = "storage";
const REST = "the rest";

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
    "mock {request} with {reply} [after {delay:duration}]",
    [
      "mock GET /api/users with 500",
      "mock /api/users with '[]'",
      "mock /api/users with 404 'gone'",
      "mock **/app.js with file 'app.js'",
      "mock /api/users with '[]' after 2s",
    ],
    {
      isSetup: true,
      acts: ({ request, reply, delay }) => [routed(request, { reply, delay })],
    },
  ),
  delay: step(NETWORK, "delay {request} by {delay:duration}", ["delay **/api/* by 2s"], {
    isSetup: true,
    acts: ({ request, delay }) => [routed(request, { reply: "sent", delay })],
  }),
  har: step(NETWORK, "use har {file:text}", ["use har 'shop.har'"], {
    isSetup: true,
    acts: ({ file }) => [routed({ glob: "**", method: undefined }, { reply: { har: file } })],
    spec: ({ file }, { page }) => [
      `await ${page}.context().routeFromHAR(${js(file)}, { notFound: "fallback" });`,
    ],
  }),
  block: step(NETWORK, "block {request}", ["block **/ads/**"], {
    isSetup: true,
    acts: ({ request }) => [routed(request, { reply: "blocked" })],
  }),
  header: step(
    NETWORK,
    "set header {name:header} to {value:text}",
    ["set header 'Accept-Language' to 'de'"],
    {
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
    acts: () => [onPage("context().setOffline", true)],
  }),
  online: step(NETWORK, "online", ["online"], {
    acts: () => [onPage("context().setOffline", false)],
  }),
  "throttle network": step(
    NETWORK,
    "throttle network to {speed}",
    ["throttle network to slow 3g"],
    {
      isSetup: true,
      spec: ({ speed }, spec) =>
        sent(spec, CONDITIONS, { offline: false, ...NETWORK_SPEEDS[speed] }),
    },
  ),
  "throttle cpu": step(NETWORK, "throttle cpu {rate}", ["throttle cpu 4x"], {
    isSetup: true,
    spec: ({ rate }, spec) => sent(spec, CPU, { rate }),
  }),
  geolocation: step(AROUND, "geolocation {place}", ["geolocation 52.52, 13.405"], {
    isSetup: true,
    acts: ({ place }) => [
      onPage("context().grantPermissions", ["geolocation"]),
      onPage("context().setGeolocation", { ...place }),
    ],
  }),
  permission: step(AROUND, "grant permission {permission}", ["grant permission 'notifications'"], {
    isSetup: true,
    acts: ({ permission }) => [onPage("context().grantPermissions", [permission])],
  }),
  "time zone": step(AROUND, "time zone {zone}", ["time zone 'Europe/Berlin'"], {
    isSetup: true,
    // In the spec's `test.use`.
    spec: () => [],
  }),
  locale: step(AROUND, "locale {locale}", ["locale 'de-DE'"], {
    isSetup: true,
    spec: () => [],
  }),
  clock: step(AROUND, "clock at {time:clock}", ["clock at '2026-12-24T18:00:00Z'"], {
    isSetup: true,
    acts: ({ time }) => [onPage("clock.install", { time })],
  }),
  "fast forward": step(AROUND, "fast forward {duration}", ["fast forward 5m"], {
    acts: ({ duration }) => [onPage("clock.fastForward", duration)],
  }),
  cookie: step(STATE, "set cookie {name:text} to {value:text}", ["set cookie 'theme' to 'dark'"], {
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
      isSetup: true,
      spec: ({ name, value }, { page, url }) => [
        `await ${page}.addInitScript(([origin, name, value]) => { if (location.origin === origin && localStorage.getItem(name) === null) localStorage.setItem(name, value); }, [${js(new URL(url).origin)}, ${js(name)}, ${js(value)}] as const);`,
        `if (${page}.url() !== "about:blank") await ${page}.evaluate(([name, value]) => localStorage.setItem(name, value), [${js(name)}, ${js(value)}] as const);`,
      ],
    },
  ),
  viewport: step(REST, "viewport {size:viewport}", ["viewport 390x844"], {
    acts: ({ size }) => [onPage("setViewportSize", { ...size })],
  }),
  screenshot: step(
    REST,
    "screenshot [{name:text}] [of {target:acted}]",
    ["screenshot 'menu' of nav", "screenshot"],
    {
      spec({ name = "screenshot", target }, { page }) {
        const of = target === undefined ? page : printTarget(target, page);
        const file = `${name}.png`.replace(/[^\w .-]/g, "-");
        return [`await ${of}.screenshot({ path: test.info().outputPath(${js(file)}) });`];
      },
    },
  ),
};
