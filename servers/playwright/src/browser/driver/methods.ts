import { type BrowseRequest, BrowseSession, type Evaluation } from "../browse/session.ts";
import { type InspectRequest, inspectPage } from "../look/inspect.ts";
import { devicesOf } from "../run/devices.ts";
import type { Calling, RunRequest, Tester } from "../run/tester.ts";

/** What a driver does for the server. */
export function methodsOf(tester: Tester) {
  let session: BrowseSession | undefined;
  return {
    run: (request: RunRequest, call: Calling) => tester.run(request, call),
    inspect: (request: InspectRequest, call: Calling) => inspectPage(tester, request, call),
    /** Reads a test without running it. */
    prepare: async (request: RunRequest) => void (await tester.prepare(request)),
    /** What devices stand for, which Playwright knows. */
    devices: (names: readonly string[]) => devicesOf(names),
    browser: () => tester.browser(),
    /** Begins the session of this driver, or continues it. */
    browse: async (request: BrowseRequest, call: Calling) => {
      session ??= await BrowseSession.open(tester, request, call);
      return session.act(request, call);
    },
    evaluate: async (request: Evaluation, call: Calling) => {
      if (session === undefined) throw new TypeError("no session");
      return session.evaluate(request, call);
    },
  };
}

export type Methods = ReturnType<typeof methodsOf>;
export type Method = keyof Methods;
