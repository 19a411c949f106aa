import { expect, it } from "vitest";
import {
  eventsOf,
  INITIALIZE,
  openSession,
  post,
  startProbe,
} from "../../../test/fixtures/http.ts";

const decline = (id: unknown) => ({ jsonrpc: "2.0", id, result: { action: "decline" } });

it("accepts an answer only from the session that was asked and with the question's id, even if no request fits", async () => {
  const { url, close, probes } = await startProbe([], { limits: { inFlight: 1 } });
  const stranger = await openSession(url);
  const params = { ...INITIALIZE.params, capabilities: { elicitation: { form: {} } } };
  const opened = await post(url, { ...INITIALIZE, params });
  await opened.text();
  const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  await post(url, { jsonrpc: "2.0", method: "notifications/initialized" }, session);
  const call = {
    jsonrpc: "2.0",
    id: 5,
    method: "tools/call",
    params: { name: "probe_wipe", arguments: {} },
  };
  const stream = eventsOf(await post(url, call, session));
  const question = (await stream.next()).value?.message;
  expect(question).toMatchObject({ method: "elicitation/create", id: expect.any(Number) });
  const id = Number(question?.id);
  expect((await post(url, { ...call, id: 6 }, session)).status).toBe(503);
  for (const [who, answer] of [
    [session, decline(String(id))],
    [session, decline(id + 1)],
    [stranger, decline(id)],
  ] as const) {
    expect((await post(url, answer, who)).status).toBe(202);
  }
  await post(
    url,
    { ...decline(id), result: { action: "accept", content: { confirm: true } } },
    session,
  );
  expect((await stream.next()).value?.message).toMatchObject({ params: { message: "Why?" } });
  expect(probes[0]?.events).not.toContain("wiped");
  await close();
});
