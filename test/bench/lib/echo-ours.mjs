// A server with one tool, on core.
import { defineServer, toolFor } from "@refmcp/core";
import { run } from "@refmcp/core/run";
import * as z from "zod";

const echo = toolFor()({
  name: "echo",
  title: "Echo",
  description: "Return a text.",
  effect: "read",
  input: z.strictObject({ text: z.string() }),
  run: ({ text }) => text,
});

await run(
  defineServer({
    name: "echo",
    packageName: "echo",
    title: "Echo",
    version: "1.0.0",
    description: "Returns a text.",
    instructions: "",
    options: {},
    tools: [echo],
    open: () => undefined,
  }),
);
