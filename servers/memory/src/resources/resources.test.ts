import type { Era } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { circle, session } from "../../test/session.ts";

describe.each<Era>(["legacy", "modern"])("resources, %s era", (era) => {
  it("show the graph and an entity", async () => {
    const { connected } = await circle({ era });
    const { client } = connected;
    const read = async (uri: string) => {
      const [part] = (await client.readResource({ uri })).contents;
      return part !== undefined && "text" in part ? part : { text: "", mimeType: "none" };
    };
    expect(JSON.parse((await read("memory://knowledge-graph")).text)).toMatchObject({
      entities: [{ name: "Ada" }, { name: "Bo" }, { name: "Cy" }],
      relations: [{ from: "Ada" }, { from: "Bo" }],
    });
    expect(JSON.parse((await read("memory://entity/Ada")).text)).toMatchObject({
      entities: [{ name: "Ada", observations: ["Ada likes tea"] }],
      relations: [{ from: "Ada", to: "Bo", relationType: "knows" }],
    });
    await expect(client.readResource({ uri: "memory://entity/Nobody" })).rejects.toMatchObject({
      code: -32602,
    });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain("memory://entity/Bo");
  });

  it("complete names, ignoring case and accents", async () => {
    const { connected, data } = await session({ era });
    await data("create_entities", {
      entities: ["Zoë/é", "Zola", "Ada"].map((name) => ({
        name,
        entityType: "person",
        observations: [],
      })),
    });
    const { completion } = await connected.client.complete({
      ref: { type: "ref/resource", uri: "memory://entity/{name}" },
      argument: { name: "name", value: "ZO" },
    });
    expect(completion.values).toEqual(["Zoë/é", "Zola"]);
    const uri = `memory://entity/${encodeURIComponent("Zoë/é")}`;
    expect((await connected.client.readResource({ uri })).contents).toHaveLength(1);
  });
});
