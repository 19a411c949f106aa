import { ToolError } from "@refmcp/boundary/answer";
import { expect, it } from "vitest";
import * as z from "zod";
import { connectInMemory } from "../../../testing/src/connect.ts";
import { SERVER, TOOL } from "../../test/fixtures/server.ts";
import { outlineOf } from "../bind/outline.ts";
import { defineOptions } from "../define/options.ts";
import { defineServer, lazyServer } from "../define/server.ts";
import { toolFor } from "../define/tool.ts";
import { prepare } from "./prepare.ts";

const tool = toolFor<null>();
const say = (name: string) =>
  tool({
    name,
    ...TOOL,
    input: z.strictObject({}),
    run: () => name,
  });
const options = defineOptions({
  more: { type: "string", list: true, description: "Names of further tools." },
  from: { type: "string", description: "Where further tools are." },
});
const server = defineServer({
  name: "more",
  ...SERVER,
  options,
  tools: [say("say_own")],
  moreTools: {
    option: "from",
    load: async ({ from, more }) => {
      if (from === "nowhere")
        throw new ToolError("invalid", "There is nothing.", { hint: "Look elsewhere." });
      return more.map(say);
    },
  },
  open: () => null,
});

it.each([
  ["from source", server],
  [
    "bundled",
    lazyServer(JSON.parse(JSON.stringify(outlineOf(server))), options, async () => server),
  ],
])("offers the tools that an option adds, %s", async (_, one) => {
  const { client, close } = await connectInMemory(one, {
    args: ["--from", "here", "--more", "say_a,say_b", "--exclude-tools", "say_b"],
  });
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["say_a", "say_own"]);
  expect((await client.callTool({ name: "say_a", arguments: {} })).content).toEqual([
    { type: "text", text: "say_a" },
  ]);
  await close();
  const without = await connectInMemory(one, { args: ["--more", "say_a"] });
  expect((await without.client.listTools()).tools).toHaveLength(1);
  await without.close();
  expect(await prepare(one, ["--from", "nowhere"], {})).toMatchObject({
    kind: "print",
    exitCode: 2,
    stderr: "There is nothing.\nLook elsewhere.\n",
  });
});
