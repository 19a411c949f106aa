import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { initialize, modern, request } from "../../test/fixtures/messages.ts";
import { probeServer } from "../../test/fixtures/probe.ts";
import { Wire } from "../../test/fixtures/wire.ts";
import type { ServerDefinition } from "../define/server.ts";
import { prepare } from "../run/prepare.ts";
import { outlineOf } from "./outline.ts";
import { serviceOf } from "./server.ts";

const MAIN =
  "---\nname: count-things\ndescription: Counts. Use it to count.\nlicense: MIT\n---\n\n# Count\n\nSee `more/é.md`.\n";
const MORE = "é\n";

let folder = "";
let module = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "refmcp-skills-"));
  const files = {
    "package.json": "{}",
    "src/deep/server.ts": "",
    "skills/count-things/SKILL.md": MAIN,
    "skills/count-things/more/é.md": MORE,
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  module = pathToFileURL(join(folder, "src/deep/server.ts")).href;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const digest = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

async function wire(skills: ServerDefinition<never>["skills"]): Promise<Wire> {
  const plain = probeServer();
  const prepared = await prepare(skills === undefined ? plain : { ...plain, skills }, [], {});
  if (prepared.kind !== "run") throw new Error("not running");
  return new Wire({}, serviceOf(prepared.runtime));
}

const ENTRY = {
  uri: "skill://count-things/SKILL.md",
  frontmatter: { name: "count-things", description: "Counts. Use it to count.", license: "MIT" },
  resources: [
    { uri: "skill://count-things/SKILL.md", digest: digest(MAIN), size: MAIN.length + 1 },
    { uri: "skill://count-things/more/%C3%A9.md", digest: digest(MORE), size: 3 },
  ],
};

describe("the skills of a package", () => {
  it("are listed in full, and each is available by its URI", async () => {
    const peer = await wire(module);
    expect(await peer.answer(modern(1, "skills/list"))).toMatchObject({
      result: { resultType: "complete", skills: [ENTRY], ttlMs: 600_000, cacheScope: "private" },
    });
    expect(await peer.answer(modern(2, "skills/get", { uri: ENTRY.uri }))).toMatchObject({
      result: { skill: ENTRY },
    });
    await peer.handle.close();
  });

  it("have files that are resources", async () => {
    const peer = await wire(module);
    const [main, more] = ENTRY.resources;
    expect(await peer.answer(modern(1, "resources/read", { uri: main?.uri }))).toMatchObject({
      result: { contents: [{ uri: main?.uri, mimeType: "text/markdown", text: MAIN }] },
    });
    expect(
      await peer.answer(modern(2, "resources/read", { uri: "skill://count-things/more/é.md" })),
    ).toMatchObject({
      result: { contents: [{ uri: more?.uri, text: MORE }] },
    });
    expect(await peer.answer(modern(3, "resources/read", { uri: "probe://count" }))).toMatchObject({
      result: { contents: [{ text: "0" }] },
    });
    await peer.handle.close();
  });

  it.each([
    ["skills/get", { uri: "skill://count-things" }, "There is no skill at"],
    ["skills/get", { uri: "skill://other/SKILL.md" }, "There is no skill at"],
    ["skills/get", {}, "params.uri is missing"],
    ["skills/list", { cursor: "x" }, "Unknown cursor"],
    ["resources/read", { uri: "skill://count-things/../../package.json" }, "not found"],
    ["resources/read", { uri: "skill://count-things/other.md" }, "not found"],
  ])("%s refuses %j with -32602", async (method, params, message) => {
    const peer = await wire(module);
    const { error } = await peer.answer(modern(1, method, params));
    expect(error?.code).toBe(-32602);
    expect(error?.message).toContain(message);
    await peer.handle.close();
  });

  it("travel in the outline of a bundle", () => {
    const outline = outlineOf({ ...probeServer(), skills: module });
    expect(JSON.parse(JSON.stringify(outline)).skills).toEqual([
      {
        name: "count-things",
        files: [
          { path: "SKILL.md", text: MAIN },
          { path: "more/é.md", text: MORE },
        ],
      },
    ]);
  });

  it.each([
    ["no frontmatter", "# Count\n"],
    ["another name", "---\nname: other\ndescription: D.\n---\n"],
    ["no description", "---\nname: bad\n---\n"],
    ["a list", "---\nname: bad\ndescription: D.\ntags:\n  - a\n---\n"],
  ])("are refused with %s", async (_what, text) => {
    const peer = await wire([{ name: "bad", files: [{ path: "SKILL.md", text }] }]);
    expect(await peer.answer(modern(1, "skills/list"))).toMatchObject({ error: { code: -32603 } });
    await peer.handle.close();
  });

  it("are declared in the modern era, and earlier to a client that declares them", async () => {
    const capabilities = async (message: unknown, skills: string | undefined) => {
      const peer = await wire(skills);
      const { result } = await peer.answer(message);
      await peer.handle.close();
      return result?.capabilities;
    };
    const extensions = { "io.modelcontextprotocol/skills": {} };
    expect(await capabilities(modern(1, "server/discover"), module)).toMatchObject({ extensions });
    expect(await capabilities(initialize("2025-11-25", { extensions }), module)).toMatchObject({
      extensions,
    });
    for (const skills of [module, undefined])
      expect(await capabilities(initialize(), skills)).not.toHaveProperty("extensions");
    const others = await capabilities(modern(1, "server/discover"), undefined);
    expect(Object(others).extensions).not.toHaveProperty(["io.modelcontextprotocol/skills"]);
  });

  it("are absent from a server without any", async () => {
    const peer = await wire(undefined);
    expect(await peer.answer(modern(1, "skills/list"))).toMatchObject({ error: { code: -32601 } });
    expect(await peer.answer(modern(2, "resources/list"))).not.toMatchObject({ error: {} });
    await peer.handle.close();
  });

  it("leave every list unchanged", async () => {
    const [plain, skilled] = [await wire(undefined), await wire(module)];
    for (const [id, method] of [
      "tools/list",
      "resources/list",
      "resources/templates/list",
      "prompts/list",
    ].entries())
      expect(await skilled.answer(modern(id, method))).toEqual(
        await plain.answer(modern(id, method)),
      );
    expect(await skilled.answer(request(9, "nope"))).toEqual(
      await plain.answer(request(9, "nope")),
    );
    await plain.handle.close();
    await skilled.handle.close();
  });
});
