import { type InspectRequest, inspectPage } from "../look/inspect.ts";
import { devicesOf } from "../run/devices.ts";
import type { Calling, RunRequest, Tester } from "../run/tester.ts";

/** What a driver does for the server. */
export const methodsOf = (tester: Tester) => ({
  run: (request: RunRequest, call: Calling) => tester.run(request, call),
  inspect: (request: InspectRequest, call: Calling) => inspectPage(tester, request, call),
  /** Reads a test without running it. */
  prepare: async (request: RunRequest) => void (await tester.prepare(request)),
  /** What devices stand for, which Playwright knows. */
  devices: (names: readonly string[]) => devicesOf(names),
  browser: () => tester.browser(),
});

export type Methods = ReturnType<typeof methodsOf>;
export type Method = keyof Methods;
