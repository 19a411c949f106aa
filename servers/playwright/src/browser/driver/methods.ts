import { type DifferenceRequest, differenceOf } from "../compare/difference.ts";
import { Secrets } from "../secrets/secrets.ts";
import type { Calling } from "../session/deadline.ts";
import { devicesOf } from "../session/devices.ts";
import { NetworkPolicy } from "../session/policy.ts";
import { RETENTION, RunStore } from "../store/runs.ts";
import { type BrowseRequest, BrowseSession, type Evaluation } from "../verdict/browse.ts";
import { type InspectRequest, inspectPage } from "../verdict/inspect.ts";
import { type RunRequest, Tester, type TesterOptions } from "../verdict/tester.ts";
import type { DriverOptions } from "./protocol.ts";

export function methodsFor(
  { rules, runsPlace, links, ...rest }: Omit<DriverOptions, "launch">,
  host: Pick<TesterOptions, "launch" | "unfit" | "readUpload" | "log">,
) {
  const tester = new Tester({
    ...rest,
    ...host,
    policy: new NetworkPolicy(rules),
    runs: new RunStore(runsPlace, RETENTION, links),
    secrets: Secrets.from(process.env),
  });
  tester.prewarm();
  const { runs } = tester.options;
  let session: BrowseSession | undefined;
  return {
    run: (request: RunRequest, call: Calling) => tester.run(request, call),
    inspect: (request: InspectRequest, call: Calling) => inspectPage(tester, request, call),
    difference: (request: DifferenceRequest) => differenceOf(runs, request),
    prepare: async (request: RunRequest) => void (await tester.prepare(request)),
    devices: (names: readonly string[]) => devicesOf(names),
    browser: () => tester.browser(),
    ready: () => tester.ready(),
    /** Starts or continues this driver's session. */
    browse: async (request: BrowseRequest, call: Calling) => {
      session ??= await BrowseSession.open(tester, request, call);
      return session.act(request, call);
    },
    /** The session as a test. */
    script: async () => {
      if (session === undefined) throw new TypeError("no session");
      return session.script();
    },
    evaluate: async (request: Evaluation, call: Calling) => {
      if (session === undefined) throw new TypeError("no session");
      return session.evaluate(request, call);
    },
  };
}

export type Methods = ReturnType<typeof methodsFor>;
export type Method = keyof Methods;
