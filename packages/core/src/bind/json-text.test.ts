import { JsonText } from "@refmcp/boundary/answer";
import { expect, it } from "vitest";
import * as z from "zod";
import { connectInMemory } from "../../../testing/src/connect.ts";
import { SERVER, TOOL } from "../../test/fixtures/server.ts";
import { defineServer } from "../define/server.ts";
import { toolFor } from "../define/tool.ts";

const tool = toolFor<object>();
const server = defineServer({
  name: "ready",
  ...SERVER,
  tools: [
    tool({
      name: "ready_text",
      ...TOOL,
      input: z.strictObject({ size: z.int().min(0).max(1_000_000) }),
      output: z.object({ rows: z.array(z.unknown()) }),
      run: ({ size }) => new JsonText(`{"rows": [1.0, "a\\"b\\u2028",\r\n"${"x".repeat(size)}"]}`),
    }),
  ],
  open: async () => ({}),
});

it("sends JSON text unchanged in both places", async () => {
  const { client, close } = await connectInMemory(server, { era: "modern" });
  const { content, structuredContent } = await client.callTool({
    name: "ready_text",
    arguments: { size: 2 },
  });
  expect(content).toEqual([{ type: "text", text: '{"rows": [1.0, "a\\"b\\u2028",  "xx"]}' }]);
  expect(structuredContent).toEqual({ rows: [1, 'a"b\u2028', "xx"] });
  const large = await client.callTool({ name: "ready_text", arguments: { size: 90_000 } });
  expect(large.isError).toBe(true);
  expect(large.content).toEqual([
    { type: "text", text: expect.stringContaining("the limit is 80,000") },
  ]);
  await close();
});
