import { type HttpProcess, startHttp } from "@refmcp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../conformance/clients.ts";
import {
  passesGeneric,
  passesScored,
  passesTasks,
  REQUIREMENTS,
} from "../conformance/expectations.ts";
import { fetchProgram, type Program } from "../conformance/programs.ts";
import { RELEASE_SERVER, useFixture } from "../conformance/ready.ts";
import type { Fields } from "../protocol/revisions.ts";
import { serverBin, useWorld } from "../servers.ts";

let suite: Program;
beforeAll(async () => {
  suite = await fetchProgram("suite");
});

describe("the official suite and a server built on core", () => {
  const endpoint = useFixture();

  it.each(REQUIREMENTS)("all $count scored scenarios of $revision, without a warning", (required) =>
    passesScored(suite, endpoint(), required),
  );

  it("every scenario of the tasks extension, without a warning", () =>
    passesTasks(suite, endpoint()));
});

describe(`the official suite and the ${RELEASE_SERVER} server`, () => {
  const there = useWorld(RELEASE_SERVER);
  let server: HttpProcess | undefined;
  let capabilities: Fields = {};
  beforeAll(async () => {
    server = await startHttp(serverBin(RELEASE_SERVER), there());
    const peer = await connect("SDK v2 modern", server.url);
    ({ capabilities } = peer);
    await peer.close();
  });
  afterAll(async () => {
    expect((await server?.stop())?.code).toBe(0);
  });

  it.each(REQUIREMENTS)("the generic scenarios of $revision", async ({ revision }) => {
    if (server === undefined) throw new Error("The server does not listen yet.");
    await passesGeneric(suite, server.url, revision, capabilities);
  });
});
