import { afterAll, beforeAll } from "vitest";
import { type Bundle, bundleProbe } from "../bundle.ts";
import type { Launch } from "./recorder.ts";
import type { Fields } from "./revisions.ts";

/** Bundles the probe server for the tests of a file; call the result for a way to start it. */
export function probeLauncher(): (...args: string[]) => Launch {
  let bundle: Bundle | undefined;
  beforeAll(async () => {
    bundle = await bundleProbe();
  });
  afterAll(() => bundle?.remove());
  return (...args) => {
    if (bundle === undefined) throw new Error("The probe server is not bundled yet.");
    return { file: bundle.file, args };
  };
}

/** Options that show every tool of the probe server. */
export const ALL_TOOLS = ["--allow-write", "--toolsets", "all"];

/** Arguments of a good call of each of its tools, except those that always fail or misbehave. */
export const GOOD_CALLS: Readonly<Record<string, Fields>> = {
  probe_count: { by: 2 },
  probe_echo: { text: "a", times: 2, tone: "loud" },
  probe_extra: {},
  probe_form: {},
  probe_gate: { gate: "any", open: true },
  probe_link: {},
  probe_log: {},
  probe_media: {},
  probe_sample: {},
  probe_slow: { ms: 1 },
  probe_steps: {},
  probe_touch: {},
  probe_visit: {},
  probe_wipe: {},
  probe_write: {},
};

/** Invalid arguments, whose problem each tool must explain. */
export const BAD_CALLS: readonly (readonly [string, Fields])[] = [
  ["probe_count", { by: "many" }],
  ["probe_echo", {}],
  ["probe_echo", { text: "a", tone: "sour" }],
  ["probe_fail", { how: "error" }],
  ["probe_fail", { how: "fault" }],
  ["probe_fail", { how: "schema" }],
  ["probe_fail", { how: "huge" }],
  ["probe_touch", { uri: 5 }],
];
