import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type HttpProcess, startHttp, type World } from "@refmcp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fields, fieldsAt, listAt } from "../protocol/revisions.ts";
import { serverBin, serverFolder, useWorld } from "../servers.ts";
import { CLIENTS, connect, type Peer } from "./clients.ts";
import { inWorld, READY } from "./ready.ts";

const execute = promisify(execFile);

/** What a client and the server negotiated. */
const AGREED = {
  "SDK v1": "2025-11-25",
  "SDK v2 legacy": "2025-11-25",
  "SDK v2 auto": "2026-07-28",
  "SDK v2 modern": "2026-07-28",
} as const;
const WAYS = ["stdio", "HTTP"] as const;
const SITUATIONS = CLIENTS.flatMap((client) => WAYS.map((way) => ({ client, way })));
/** The oldest and the newest client call every read-only tool; the others call one. */
const THOROUGH: readonly string[] = ["SDK v1", "SDK v2 modern"];
/** How many resources of a list are read. */
const MAX_READ = 5;

it("finds servers", () => {
  expect(READY).not.toEqual([]);
});

describe.each(READY)("the %s server", (name) => {
  const there = useWorld(name);
  let listening: HttpProcess | undefined;
  /** What the first client saw, and every other one must see. */
  const first = new Map<string, unknown>();
  const same = (what: string, seen: unknown) => {
    if (!first.has(what)) first.set(what, seen);
    expect(seen, what).toEqual(first.get(what));
  };
  /** The URIs of permanent resources. */
  let fixed: unknown[] = [];

  beforeAll(async () => {
    const { stdout } = await execute(process.execPath, [serverBin(name), "--describe"], {
      maxBuffer: 2 ** 26,
    });
    fixed = listAt(JSON.parse(stdout), "resources").flatMap(({ uri }) => uri ?? []);
    listening = await startHttp(serverBin(name), there());
  });
  afterAll(async () => {
    expect((await listening?.stop())?.code).toBe(0);
    expect(listening?.stderr()).toBe(`refmcp-${name} listens on ${listening?.url.href}\n`);
  });

  describe.each(SITUATIONS)("to $client over $way", ({ client, way }) => {
    let peer: Peer | undefined;
    const connected = (): Peer => {
      if (peer === undefined) throw new Error("There is no connection yet.");
      return peer;
    };
    beforeAll(async () => {
      if (listening === undefined) throw new Error("The server does not listen yet.");
      peer = await connect(client, way === "HTTP" ? listening.url : inWorld(name, there()));
    });
    afterAll(() => peer?.close());

    it(`negotiates ${AGREED[client]} and identifies itself`, async () => {
      const { serverInfo, capabilities, instructions, revision } = connected();
      expect(revision).toBe(AGREED[client]);
      const { version }: { version: string } = JSON.parse(
        await readFile(join(serverFolder(name), "package.json"), "utf8"),
      );
      expect(serverInfo).toMatchObject({ name: `refmcp-${name}`, version });
      expect(instructions).not.toBe("");
      expect(Object.keys(capabilities)).toContain("tools");
      same("instructions", instructions);
    });

    it("has the same resources and prompts", async () => {
      const { capabilities } = connected();
      if (capabilities.prompts !== undefined) same("prompts", await connected().list("prompts"));
      if (capabilities.resources === undefined) return;
      const resources = await connected().list("resources");
      const uris = resources.map(({ uri }) => String(uri));
      // Resources of a template come and go with the tools' actions.
      same(
        "resources",
        resources.filter(({ uri }) => fixed.includes(uri)),
      );
      for (const uri of uris.slice(0, MAX_READ)) {
        const contents = listAt(await connected().read(uri), "contents");
        expect(contents, uri).not.toEqual([]);
        same(
          uri,
          contents.map(({ uri, mimeType }) => ({ uri, mimeType })),
        );
      }
    });

    it("has the same tools, and read-only ones return the same results", async () => {
      const tools = await connected().list("tools");
      // Only 2025-11-25 declares tasks with each tool.
      same(
        "tools",
        tools.map(({ execution, ...tool }) => tool),
      );
      expect(tools).not.toEqual([]);
      const { calls, failures = {}, stable } = there();
      const reading = tools.filter(
        ({ annotations }) => fieldsAt(annotations).readOnlyHint === true,
      );
      expect(reading).not.toEqual([]);
      for (const { name: tool, outputSchema } of THOROUGH.includes(client)
        ? reading
        : reading.slice(0, 1)) {
        const called = String(tool);
        const answer = await connected().call(called, { ...calls[called] });
        expect(answer.isError, `${called}: ${JSON.stringify(answer.content)}`).not.toBe(true);
        expect(answer.structuredContent !== undefined, called).toBe(outputSchema !== undefined);
        same(called, answersOf(answer, stable));
        const bad = failures[called];
        if (bad === undefined) continue;
        const failed = await connected().call(called, { ...bad });
        expect(failed.isError, `${called}: ${JSON.stringify(failed)}`).toBe(true);
        same(`${called}, failing`, answersOf(failed, stable));
      }
    });

    it("refuses an unknown tool, and continues", async () => {
      await expect(connected().call("no_such_tool", {})).rejects.toMatchObject({ code: -32602 });
      expect(await connected().list("tools")).not.toEqual([]);
    });
  });
});

/**
 * The part of an answer that the model gets. Over HTTP the client may be on another machine, so links are resources of the
 * server; over stdio they are files.
 */
function answersOf(
  { content, structuredContent, isError }: Fields,
  stable: World["stable"],
): string {
  const text = stable(JSON.stringify({ content, structuredContent, isError }));
  return text.replace(/file:\/\/\/world\/(?=runs\/)|pw:\/\/(?=runs\/)/g, "<kept>/");
}
