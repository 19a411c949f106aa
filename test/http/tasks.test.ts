import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  createTaskSessionFromClient,
  resultFromTaskOutcome,
} from "@modelcontextprotocol/ext-tasks/client";
import { connectHttp, startHttp } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { serverBin, serverWorld } from "../servers.ts";
import {
  ask,
  begin,
  CAPABILITIES,
  CLIENT,
  open,
  start,
  until,
  useFixture,
  VERSION,
} from "./tasks.ts";

const FIELDS = z.looseObject({});
useFixture();

describe.each(["filesystem", "sqlite"])("the %s server", (name) => {
  it("returns from a task of 2025-11-25 what the call returns", async () => {
    const world = await serverWorld(name);
    open.push(() => world.dispose());
    const server = await startHttp(serverBin(name), world);
    open.push(() => server.stop("SIGKILL"));
    const { client, close } = await connectHttp(server.url, { era: "legacy" });
    open.push(close);
    const { tools } = await client.listTools();
    const reading = tools.find(({ annotations }) => annotations?.readOnlyHint === true);
    const call = {
      name: String(reading?.name),
      arguments: { ...world.calls[String(reading?.name)] },
    };
    const plain = await client.callTool(call);
    const created = await client.request(
      { method: "tools/call", params: { ...call, task: {} } },
      FIELDS,
    );
    const { taskId } = Object(created.task);
    const result = await client.request({ method: "tasks/result", params: { taskId } }, FIELDS);
    const stable = (content: unknown) => world.stable(JSON.stringify(content ?? null));
    expect(stable(result.content)).toBe(stable(plain.content));
    expect(stable(result.structuredContent)).toBe(stable(plain.structuredContent));
  });
});

describe("an import into SQLite that became a task", () => {
  it("ends with all rows, or with none if its client cancels it", async () => {
    const world = await serverWorld("sqlite");
    open.push(() => world.dispose());
    const [, file = "", , folder = ""] = world.args;
    const lines = Array.from({ length: 200_000 }, (_, at) => `name ${at},city`);
    await writeFile(join(folder, "many.csv"), `name,city\n${lines.join("\n")}\n`);
    const args = [...world.args, "--allow-write", "--task-after-ms", "0"];
    const { url, stop } = await startHttp(serverBin("sqlite"), { ...world, args });
    open.push(() => stop("SIGKILL"));
    const input = { path: "many.csv", table: "users" };
    const cancelled = await begin(url, "import_csv", input);
    // The runner has begun to write when there is a journal.
    await expect.poll(() => existsSync(`${file}-journal`)).toBe(true);
    await ask(url, "tasks/cancel", { taskId: cancelled });
    await until(url, cancelled, "cancelled");
    const { result } = await until(url, await begin(url, "import_csv", input), "completed");
    expect(result).toMatchObject({ structuredContent: { rows: 200_000, committed: true } });
    const query = "SELECT count(*) FROM users WHERE city = 'city'";
    const counted = await until(url, await begin(url, "read_query", { query }), "completed");
    expect(counted.result).toMatchObject({ structuredContent: { rows: [[200_000]] } });
  });
});

describe("the client of the tasks extension's authors", () => {
  it("follows a task of 2026-07-28, and answers its question", async () => {
    const { url } = await start();
    const client = new Client(CLIENT, {
      capabilities: CAPABILITIES,
      versionNegotiation: { mode: { pin: VERSION } },
    });
    await client.connect(new StreamableHTTPClientTransport(url));
    open.push(() => client.close());
    const asked: unknown[] = [];
    const session = createTaskSessionFromClient(client, {
      endpointId: url.href,
      async rawDispatch(request) {
        const { method, params } = Object(request);
        const { result, error } = await ask(url, method, params);
        return error === undefined
          ? { kind: "result", result: Object(result) }
          : { kind: "error", error: Object(error) };
      },
      v2RequestFraming: {
        protocolVersion: VERSION,
        clientInfo: CLIENT,
        clientCapabilities: CAPABILITIES,
      },
      async onInputRequest(request) {
        asked.push(request.kind);
        const answer: unknown = { action: "accept", content: { confirm: true } };
        return answer as never;
      },
    });
    const execution = await session.callTool("confirm_delete", { filename: "a.txt" });
    const { outcome } = await execution.settle();
    expect(resultFromTaskOutcome(outcome)).toMatchObject({ content: [{ text: "deleted a.txt" }] });
    expect(asked).toEqual(["elicitation"]);
    await session.close();
  });

  it("follows a task of 2025-11-25", async () => {
    const { url } = await start();
    const client = new Client(CLIENT, { capabilities: {}, versionNegotiation: { mode: "legacy" } });
    await client.connect(new StreamableHTTPClientTransport(url));
    open.push(() => client.close());
    const session = createTaskSessionFromClient(client, { endpointId: url.href });
    const execution = await session.callTool("slow_compute", { seconds: 1, label: "old" });
    const { outcome } = await execution.settle();
    expect(resultFromTaskOutcome(outcome)).toMatchObject({ content: [{ text: "computed old" }] });
    await session.close();
  });
});
