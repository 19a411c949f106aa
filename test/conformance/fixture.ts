import { type HttpProcess, startHttp } from "@refmcp/testing";
import { afterAll, beforeAll, expect } from "vitest";
import { bundleServer } from "../bundle.ts";

/** The server built on core that has what the official suite asks for, for the tests of a suite. */
export function useFixture(): () => URL {
  let server: HttpProcess | undefined;
  let removeBundle: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    const { file, remove } = await bundleServer("conformance/fixtures/everything.ts");
    removeBundle = remove;
    // The suite expects a task from a call that takes a second.
    server = await startHttp(file, { args: ["--task-after-ms", "300"] });
  });
  afterAll(async () => {
    const ended = await server?.stop();
    await removeBundle?.();
    expect(ended?.code).toBe(0);
  });
  return () => {
    if (server === undefined) throw new Error("The fixture server does not listen yet.");
    return server.url;
  };
}
