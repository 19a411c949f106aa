import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { inspectTrace } from "../browser/store/trace.ts";
import { runId, tool } from "../context.ts";

export default tool({
  name: "pw_inspect_trace",
  title: "Inspect a trace",
  description:
    "Read a Playwright trace: actions with times, errors, console, failed requests. Pass run_id or path.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({
    run_id: runId.optional(),
    name: z.string().optional().describe("Which artifact of the run; default: its first trace."),
    path: z.string().optional().describe("A trace.zip, absolute or below an allowed directory."),
    limit: fields.limit(50, 500),
  }),
  run: async ({ run_id: id, name, path, limit }, services, call) =>
    inspectTrace(await services.traceFile(id, name, path), { limit, budget: call.budget - 500 }),
});
