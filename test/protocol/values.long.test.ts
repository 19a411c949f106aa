import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connected, connectStdio } from "@refmcp/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { SERVERS, serverBin } from "../servers.ts";

const folder = mkdtempSync(join(tmpdir(), "refmcp-values-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Options that offer every tool. No tool runs, so no server needs anything to work on. */
const ALL: Readonly<Record<string, readonly string[]>> = {
  filesystem: [folder],
  git: ["--toolsets", "all", folder],
  memory: [join(folder, "memory.db")],
  playwright: ["--toolsets", "all", "--allow-evaluate"],
  postgres: ["--allow-write", "--toolsets", "data,dba"],
  sqlite: ["--allow-write", "--allow-ddl", join(folder, "a.db")],
};
/** 15.8 MB of wrong items: nearly the limit of a message. Checking them took up to two minutes and 4.4 GB. */
const MANY: readonly number[] = new Array(7_900_000).fill(1);
/** A server uses about 50 MB at rest, and the message is copied a few times. */
const MAX_MB = 250;

interface Schema {
  readonly type?: string | undefined;
  readonly properties?: Record<string, Schema> | undefined;
  readonly items?: Schema | undefined;
}
const schema: z.ZodType<Schema> = z.lazy(() =>
  z.object({
    type: z.string().optional(),
    properties: z.record(z.string(), schema).optional(),
    items: schema.optional(),
  }),
);

/** Arguments for each array in a schema, with `MANY` in it. */
function filled({ properties = {} }: Schema): Record<string, unknown>[] {
  return Object.entries(properties).flatMap(([name, { type, items = {}, ...rest }]) => [
    ...(type === "array"
      ? [{ [name]: MANY }, ...filled(items).map((item) => ({ [name]: [item] }))]
      : []),
    ...(type === "object" ? filled(rest).map((value) => ({ [name]: value })) : []),
  ]);
}

describe.each(SERVERS)("the %s server, given millions of values in one message", (name) => {
  let connected: Connected;
  beforeAll(async () => {
    connected = await connectStdio(serverBin(name), { args: ALL[name] ?? [], era: "legacy" });
  });
  afterAll(() => connected.close());
  afterEach(async () => {
    expect(await connected.client.ping()).toBeDefined();
    if (process.platform !== "linux") return;
    const status = readFileSync(`/proc/${connected.pid}/status`, "utf8");
    expect(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024).toBeLessThan(MAX_MB);
  });
  const refused = (tool: string, args: Record<string, unknown>) =>
    expect(connected.client.callTool({ name: tool, arguments: args })).rejects.toThrow(
      "The message has more than 100,000 values",
    );

  it("refuses them in every array of every tool, and answers a ping", async () => {
    const { tools } = await connected.client.listTools();
    for (const tool of tools)
      for (const args of filled(schema.parse(tool.inputSchema))) await refused(tool.name, args);
  });

  it("refuses them as names of arguments", async () => {
    const { tools } = await connected.client.listTools();
    const keys = Array.from({ length: 900_000 }, (_, index) => [`k${index}`, 1]);
    await refused(tools[0]?.name ?? "", Object.fromEntries(keys));
  });
});
