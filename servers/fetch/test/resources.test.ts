import { connectInMemory, type Era } from "@refmcp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { server } from "../src/server.ts";
import { picture } from "./files.ts";
import { site } from "./lab.ts";

async function session(era: Era) {
  const lab = await site({
    "/a": "<title>A</title><h1>One</h1><p>Two</p>",
    "/b.png": { headers: { "content-type": "image/png" }, body: picture },
  });
  const connected = await connectInMemory(server, { era, args: ["--allow-host", lab.host] });
  onTestFinished(() => connected.close());
  return { lab, client: connected.client };
}

describe.each<Era>(["legacy", "modern"])("a fetched page as a resource, %s era", (era) => {
  it("is listed, read in full as Markdown or its bytes, and completed", async () => {
    const { lab, client } = await session(era);
    expect((await client.listResources()).resources).toEqual([]);
    await client.callTool({ name: "fetch", arguments: { url: `${lab.origin}/a`, max_length: 3 } });
    await client.callTool({ name: "fetch", arguments: { url: `${lab.origin}/b.png` } });
    const { resources } = await client.listResources();
    expect(resources).toMatchObject([{ title: `${lab.origin}/a`, mimeType: "text/markdown" }]);
    const uri = resources[0]?.uri ?? "";
    expect((await client.readResource({ uri })).contents).toMatchObject([{ text: "# One\n\nTwo" }]);
    const { completion } = await client.complete({
      ref: { type: "ref/resource", uri: "fetch://snapshot/{id}" },
      argument: { name: "id", value: "" },
    });
    expect(completion.values).toHaveLength(2);
    const blobs = await Promise.all(
      completion.values.map(
        async (id) => (await client.readResource({ uri: `fetch://snapshot/${id}` })).contents[0],
      ),
    );
    expect(blobs).toContainEqual(
      expect.objectContaining({ blob: picture.toString("base64"), mimeType: "image/png" }),
    );
    await expect(client.readResource({ uri: "fetch://snapshot/000000000000" })).rejects.toThrow(
      "is not kept here",
    );
  });
});
