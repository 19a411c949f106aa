import { type CompareRequest, comparePages } from "../compare/compare.ts";
import type { Calling } from "../deadline.ts";
import { devicesOf } from "../devices.ts";
import { NetworkPolicy } from "../policy.ts";
import { type BrowseRequest, BrowseSession, type Evaluation } from "../run/browse.ts";
import { type InspectRequest, inspectPage } from "../run/inspect.ts";
import type { RunRequest } from "../run/run.ts";
import { Tester, type TesterOptions } from "../run/tester.ts";
import { Secrets } from "../secrets/secrets.ts";
import { RETENTION, RunStore } from "../store/runs.ts";
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
  let session: BrowseSession | undefined;
  return {
    run: (request: RunRequest, call: Calling) => tester.run(request, call),
    inspect: (request: InspectRequest, call: Calling) => inspectPage(tester, request, call),
    compare: (request: CompareRequest, call: Calling) => comparePages(tester, request, call),
    prepare: async (request: RunRequest) => void (await tester.prepare(request)),
    devices: (names: readonly string[]) => devicesOf(names),
    ready: async () => void (await tester.contexts.browser()),
    /** Starts or continues this driver's session. */
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

export type Methods = ReturnType<typeof methodsFor>;
export type Method = keyof Methods;
