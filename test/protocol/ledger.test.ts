import { expect, it } from "vitest";
import { Ledger } from "./ledger.ts";
import type { Fields, Revision } from "./revisions.ts";

const JSON_RPC = { jsonrpc: "2.0" };
const call = {
  ...JSON_RPC,
  id: 1,
  method: "tools/call",
  params: { name: "a", _meta: { progressToken: "t" } },
};
const reply = (id: unknown, result: Fields) => ({ ...JSON_RPC, id, result });
const done = reply(1, { content: [] });
const progress = (value: number) => ({
  ...JSON_RPC,
  method: "notifications/progress",
  params: { progressToken: "t", progress: value },
});
const listed = (type: string) =>
  reply(0, {
    tools: [
      {
        name: "a",
        inputSchema: { type: "object" },
        outputSchema: { type: "object", properties: { a: { type } }, required: ["a"] },
      },
    ],
  });
const structured = (a: unknown) => reply(1, { content: [], structuredContent: { a } });

it.each<[what: string, revision: Revision, lines: object[], problems: RegExp[]]>([
  ["a good conversation", "2025-11-25", [progress(1), progress(2), done], []],
  ["a second answer", "2025-11-25", [done, done], [/^nobody waits/]],
  ["an answer to another id", "2025-11-25", [reply("1", {})], [/there is none/, /^nobody waits/]],
  ["progress that falls", "2025-11-25", [progress(2), progress(1), done], [/must increase/]],
  ["structured content", "2025-11-25", [listed("integer"), structured(1)], []],
  ["another type", "2025-11-25", [listed("integer"), structured("1")], [/a must be integer/]],
  ["no structured content", "2025-11-25", [listed("integer"), done], [/structuredContent/]],
  ["an invalid schema", "2025-11-25", [listed("nonsense")], [/invalid schema/]],
  ["it too early", "2025-03-26", [listed("integer"), structured(1)], [/came with 2025-06-18/]],
])("the ledger looks at %s", (_what, revision, lines, problems) => {
  const ledger = new Ledger(revision);
  for (const request of [{ ...JSON_RPC, id: 0, method: "tools/list" }, call]) ledger.asked(request);
  for (const line of lines) ledger.received(line);
  expect(ledger.problems).toEqual(problems.map((problem) => expect.stringMatching(problem)));
});

it("the ledger knows what was not answered, until it is cancelled", () => {
  const ledger = new Ledger("2025-11-25");
  ledger.asked(call);
  expect(ledger.unanswered).toEqual(["tools/call with the id 1"]);
  ledger.cancelled(1);
  expect(ledger.unanswered).toEqual([]);
  ledger.received(done);
  expect(ledger.problems).toHaveLength(1);
});
