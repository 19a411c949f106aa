import { defineServer, toolFor } from "@refmcp/core";
import { expect, it } from "vitest";
import * as z from "zod";
import { SERVER, TOOL } from "../../core/test/fixtures/server.ts";
import { connectInMemory } from "./connect.ts";
import { withCheckedOutput } from "./output-keys.ts";

/** A server whose tool returns `value` as the answer of { list: [{ kept }] }. */
async function answer(value: { list: { kept: number; extra?: number | undefined }[] }) {
  const tool = toolFor<undefined>()({
    name: "probe_list",
    ...TOOL,
    input: z.strictObject({}),
    output: z.object({ list: z.array(z.object({ kept: z.number() })) }),
    run: () => value,
  });
  const server = defineServer({
    name: "probe",
    ...SERVER,
    tools: [tool],
    open: () => undefined,
  });
  const connected = await connectInMemory(withCheckedOutput(server));
  try {
    const { structuredContent } = await connected.client.callTool({
      name: "probe_list",
      arguments: {},
    });
    return { structuredContent, log: connected.stderr() };
  } finally {
    await connected.close();
  }
}

it("a key that is not in output fails, and the error names its path", async () => {
  const { structuredContent, log } = await answer({ list: [{ kept: 1 }, { kept: 2, extra: 3 }] });
  expect(structuredContent).toBeUndefined();
  expect(log).toContain("probe_list returned list[].extra, which its output schema does not have.");
});

it("accepts keys that are in output, even without a value", async () => {
  const { structuredContent, log } = await answer({ list: [{ kept: 1, extra: undefined }] });
  expect(structuredContent).toEqual({ list: [{ kept: 1 }] });
  expect(log).toBe("");
});
