import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HttpProcess, startHttp } from "@refmcp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fields, fieldsAt } from "../protocol/revisions.ts";
import { INSTALL_MS, serverBin, useWorld } from "../servers.ts";
import { connect } from "./clients.ts";
import { passesGeneric, REQUIREMENTS } from "./expectations.ts";
import { fetchProgram, type Program } from "./programs.ts";
import { inWorld, READY, RELEASE_SERVER } from "./ready.ts";

let suite: Program;
let inspector: Program;
let home = "";
beforeAll(async () => {
  suite = await fetchProgram("suite");
  inspector = await fetchProgram("inspector");
  home = await mkdtemp(join(tmpdir(), "refmcp-inspector-"));
}, INSTALL_MS);
afterAll(() => rm(home, { recursive: true, force: true }));

it("finds servers", () => {
  expect(READY).not.toEqual([]);
});

describe.each(READY)("the %s server", (name) => {
  const there = useWorld(name);
  let server: HttpProcess | undefined;
  let capabilities: Fields = {};
  beforeAll(async () => {
    server = await startHttp(serverBin(name), there());
    const peer = await connect("SDK v2 modern", server.url);
    ({ capabilities } = peer);
    await peer.close();
  });
  afterAll(async () => {
    expect((await server?.stop())?.code).toBe(0);
  });

  if (name !== RELEASE_SERVER)
    it.each(REQUIREMENTS)(
      "the official suite's generic scenarios of $revision",
      async ({ revision }) => {
        if (server === undefined) throw new Error("The server does not listen yet.");
        await passesGeneric(suite, server.url, revision, capabilities);
      },
    );

  it.each(["legacy", "modern"])(
    "the Inspector's command line in the %s era, strictly",
    async (era) => {
      const world = there();
      const { file, args, env } = inWorld(name, world);
      const ask = async (...method: string[]) => {
        const server = [process.execPath, file, ...args];
        const variables = Object.entries(env).flatMap(([key, value]) => ["-e", `${key}=${value}`]);
        const options = ["--protocol-era", era, "--format", "json"];
        const { code, stdout, stderr } = await inspector(
          ["--cli", ...variables, ...server, ...options, ...method],
          home,
        );
        expect(code, stderr).toBe(0);
        return fieldsAt(JSON.parse(stdout), "result");
      };
      const { tools } = await ask("--method", "tools/list", "--strict");
      expect(tools).not.toEqual([]);
      const [reading] = Array.isArray(tools)
        ? tools.filter((tool) => fieldsAt(tool, "annotations").readOnlyHint === true)
        : [];
      const tool = String(fieldsAt(reading).name);
      const call = [
        "--tool-name",
        tool,
        "--tool-args-json",
        JSON.stringify(world.calls[tool] ?? {}),
      ];
      const result = await ask("--method", "tools/call", ...call);
      expect(result.isError, JSON.stringify(result)).not.toBe(true);
    },
  );
});
