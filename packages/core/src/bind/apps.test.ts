import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Era } from "../../../testing/src/connect.ts";
import { claim, initialize, request } from "../../test/fixtures/messages.ts";
import { probeServer } from "../../test/fixtures/probe.ts";
import { type Reply, Wire } from "../../test/fixtures/wire.ts";
import { META } from "../engine/wire.ts";
import { bind } from "../run/prepare.ts";

const APPS = {
  extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
};

/** How a client that shows views calls a tool. */
async function open(era: Era, capabilities: object, argv: readonly string[] = []) {
  const peer = new Wire({}, (await bind(probeServer(), { argv })).service);
  if (era === "legacy") await peer.answer(initialize("2025-11-25", { ...capabilities }));
  let id = 0;
  const _meta = { ...claim(), [META.capabilities]: capabilities };
  const ask = (method: string, params = {}) => {
    id += 1;
    return peer.answer(request(id, method, era === "legacy" ? params : { ...params, _meta }));
  };
  return { peer, ask };
}

const wipe = { name: "probe_wipe", arguments: {} };
const count = { name: "probe_count", arguments: { by: 1 } };
const text = ({ result }: Reply) => Object(Object(result).content?.[0]).text;
const cardOf = ({ result }: Reply): { token: string; message: string } =>
  Object(Object(result)._meta)["io.github.refmcp/confirmation"];
const answer = (token: unknown, accept: unknown) => ({
  name: "probe_confirm",
  arguments: { token, accept },
});

describe.each<Era>(["legacy", "modern"])("the confirmation card in the %s era", (era) => {
  it("replaces a form for clients without forms, and confirms only this loss", async () => {
    const { peer, ask } = await open(era, APPS);
    const first = await ask("tools/call", wipe);
    expect(cardOf(first)).toMatchObject({
      message: "Lose the count of 0?",
      tool: "probe_confirm",
      action: "Wipe",
    });
    expect(Object(first.result).isError).toBeUndefined();
    expect(text(first)).not.toContain(cardOf(first).token);
    await ask("tools/call", count);
    const second = await ask("tools/call", answer(cardOf(first).token, true));
    expect(cardOf(second).message).toBe("Lose the count of 1?");
    // The tool's second question is a form, which this client does not have.
    const third = await ask("tools/call", answer(cardOf(second).token, true));
    expect(text(third)).toContain("this client cannot ask the user: Why?");
    expect(text(await ask("tools/call", answer(cardOf(second).token, true)))).toContain(
      "already answered",
    );
    await peer.handle.close();
  });

  it.each([false, undefined, "true", 1])("treats %j as no", async (accept) => {
    const { peer, ask } = await open(era, APPS);
    const { token } = cardOf(await ask("tools/call", wipe));
    expect(text(await ask("tools/call", answer(token, accept)))).toBe(
      "The user declined. Nothing was changed.",
    );
    expect(text(await ask("tools/call", answer(token, true)))).toContain("already answered");
    await peer.handle.close();
  });

  it("is forgotten after ten minutes", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const { peer, ask } = await open(era, APPS);
    const { token } = cardOf(await ask("tools/call", wipe));
    vi.advanceTimersByTime(600_001);
    expect(text(await ask("tools/call", answer(token, true)))).toContain("has expired");
    await peer.handle.close();
  });

  it("forgets the oldest of too many", async () => {
    const { peer, ask } = await open(era, APPS);
    const tokens: string[] = [];
    for (let index = 0; index < 51; index++)
      tokens.push(cardOf(await ask("tools/call", wipe)).token);
    expect(text(await ask("tools/call", answer(tokens[0], false)))).toContain("already answered");
    expect(text(await ask("tools/call", answer(tokens[1], false)))).toContain("declined");
    await peer.handle.close();
  });

  it.each([
    ["has forms", { ...APPS, elicitation: {} }],
    ["shows no views", {}],
    [
      "shows other views",
      { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/plain"] } } },
    ],
    ["says nothing of their type", { extensions: { "io.modelcontextprotocol/ui": {} } }],
  ])("is not shown to a client that %s", async (_what, capabilities) => {
    const { peer, ask } = await open(era, capabilities);
    const reply =
      era === "legacy" && "elicitation" in capabilities ? undefined : await ask("tools/call", wipe);
    if (reply !== undefined) expect(cardOf(reply)).toBeUndefined();
    // A view that would always be empty is not declared either.
    expect(JSON.stringify(await ask("tools/list"))).not.toMatch(/"ui"|probe_confirm/);
    const none = { error: { code: -32602 } };
    expect(await ask("tools/call", answer("x", true))).toMatchObject(none);
    const uri = "ui://probe/confirm.html";
    expect(await ask("resources/read", { uri })).toMatchObject(none);
    await peer.handle.close();
  });

  it("is not asked with --confirm never", async () => {
    const { peer, ask } = await open(era, APPS, ["--confirm", "never"]);
    expect(text(await ask("tools/call", wipe))).toContain("cannot ask the user: Why?");
    expect(JSON.stringify(await ask("tools/list"))).not.toMatch(/"ui"|probe_confirm/);
    await peer.handle.close();
  });

  it("is listed with its tool, which has no output schema, and with its page", async () => {
    const { peer, ask } = await open(era, APPS);
    const { tools }: { tools: Record<string, unknown>[] } = Object(
      (await ask("tools/list")).result,
    );
    const find = (name: string) => tools.find((tool) => tool.name === name);
    expect(find("probe_wipe")).toMatchObject({
      _meta: { ui: { resourceUri: "ui://probe/confirm.html" } },
    });
    expect(find("probe_wipe")).not.toHaveProperty("outputSchema");
    expect(find("probe_count")).toHaveProperty("outputSchema");
    expect(find("probe_confirm")).toMatchObject({ _meta: { ui: { visibility: ["app"] } } });
    const { result } = await ask("resources/read", { uri: "ui://probe/confirm.html" });
    expect(result).toMatchObject({ contents: [{ mimeType: "text/html;profile=mcp-app" }] });
    expect(await ask("resources/read", { uri: "ui://probe/other.html" })).toMatchObject({
      error: { code: -32602 },
    });
    expect(await ask("resources/read", { uri: "probe://count" })).toMatchObject({ result: {} });
    await peer.handle.close();
  });
});
