import { connectInMemory } from "@refmcp/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { world } from "../../test/fixture.ts";
import { server } from "../server.ts";

const answer = z.object({
  notes: z.array(z.object({ text: z.string() })),
  next_cursor: z.string().optional(),
});
let close: () => Promise<void>;
let call: (
  args: Record<string, unknown>,
) => Promise<{ isError?: boolean | undefined; structuredContent?: unknown }>;

beforeEach(async () => {
  const { args, env = {}, dispose } = await world();
  const connected = await connectInMemory(server, { args, env });
  call = (args) => connected.client.callTool({ name: "sample_find", arguments: args });
  close = async () => {
    await connected.close();
    await dispose();
  };
});
afterEach(() => close());

it("finds notes by a word, in upper or lower case", async () => {
  const { notes } = answer.parse((await call({ query: "TEA" })).structuredContent);
  expect(notes.map(({ text }) => text).sort()).toEqual([
    "Ada brings the tea.",
    "Tea for everybody.",
  ]);
});

it("returns every note once, page by page", async () => {
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = answer.parse(
      (await call({ query: "entry 1", limit: 100, cursor })).structuredContent,
    );
    seen.push(...page.notes.map(({ text }) => text));
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  expect(seen).toHaveLength(1_111);
  expect(new Set(seen).size).toBe(1_111);
});

it("refuses the cursor of another search", async () => {
  const { next_cursor: cursor } = answer.parse(
    (await call({ query: "tea", limit: 1 })).structuredContent,
  );
  expect(cursor).toBeDefined();
  expect((await call({ query: "entry", cursor })).isError).toBe(true);
});
