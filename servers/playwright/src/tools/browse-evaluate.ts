import * as z from "zod";
import { session, tool } from "../context.ts";

export default tool({
  name: "pw_browse_evaluate",
  title: "Evaluate JavaScript",
  description:
    "Evaluate a JavaScript expression in the page of an open session, and return its value as JSON. Refused after secrets were used.",
  toolset: "browse",
  needs: "allowEvaluate",
  effect: "change",
  openWorld: true,
  input: z.strictObject({
    session,
    expression: z
      .string()
      .describe(
        '"document.title"; for statements a function: "async () => (await fetch(\'/api\')).status".',
      ),
  }),
  run: ({ session: name, expression }, { sessions }, call) =>
    sessions.evaluate(name, expression, call.budget, call),
});
