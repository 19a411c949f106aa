import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { SERVERS, serverBin, useWorld } from "../servers.ts";
import { conversation } from "./conversation.ts";
import { type Fields, fieldsAt, listAt, REVISIONS, type Revision } from "./revisions.ts";

const execute = promisify(execFile);
const BUILT = SERVERS.filter((name) => existsSync(serverBin(name)));
/** How many resources of a list are read. */
const MAX_READ = 10;

/** In the other revisions only reading tools get good calls: their answers differ by revision as those of the probe server do. */
const WHOLE: readonly Revision[] = ["2024-11-05", "2025-11-25", "2026-07-28"];

it("finds built servers", () => {
  expect(BUILT).not.toEqual([]);
});

describe.each(BUILT)("the %s server", (name) => {
  let noRoots: readonly string[] = [];
  beforeAll(async () => {
    const { stdout } = await execute(process.execPath, [serverBin(name), "--describe"], {
      maxBuffer: 2 ** 26,
    });
    // Only servers that touch directories ask for roots.
    const options = listAt(JSON.parse(stdout), "options").map(({ flag }) => flag);
    noRoots = options.includes("roots") ? ["--roots", "off"] : [];
  });

  describe.each(REVISIONS)("in %s", (revision) => {
    const there = useWorld(name);
    let tools: { name: string; reads: boolean }[] = [];
    const talk = conversation(() => {
      const { args, env = {} } = there();
      return { file: serverBin(name), args: [...args, ...noRoots], env };
    }, revision);

    async function complete(ref: Fields, argument: string | undefined): Promise<void> {
      for (const value of ["", "a", "/", "\u0000"]) {
        await talk.recorder.request("completion/complete", {
          ref,
          argument: { name: argument, value },
        });
      }
    }

    it("lists its tools, in the same order each time", async () => {
      const [first, second] = await Promise.all(
        [0, 1].map(() => talk.recorder.request("tools/list")),
      );
      expect(second?.result).toEqual(first?.result);
      tools = listAt(first, "result", "tools").map((tool) => ({
        name: String(tool.name),
        reads: fieldsAt(tool, "annotations").readOnlyHint === true,
      }));
      expect(tools).not.toEqual([]);
      const names = tools.map((tool) => tool.name);
      expect(names).toEqual([...names].sort());
    });

    it("shows and reads its resources", async () => {
      const { recorder } = talk;
      const [resources, templates] = await Promise.all(
        ["resources/list", "resources/templates/list"].map((method) => recorder.request(method)),
      );
      for (const { uri } of listAt(resources, "result", "resources").slice(0, MAX_READ)) {
        expect(await recorder.complete("resources/read", { uri })).toHaveProperty("result");
      }
      for (const { uriTemplate } of listAt(templates, "result", "resourceTemplates")) {
        const variables = String(uriTemplate).matchAll(/\{[+#./;?&]?([^}*,]+)/g);
        for (const [, variable] of variables)
          await complete({ type: "ref/resource", uri: uriTemplate }, variable);
        for (const value of ["x", "..%2F..", "%00"]) {
          await recorder.complete("resources/read", {
            uri: String(uriTemplate).replace(/\{[^}]*\}/g, value),
          });
        }
      }
    });

    it("shows and gets its prompts", async () => {
      const { recorder } = talk;
      for (const prompt of listAt(await recorder.request("prompts/list"), "result", "prompts")) {
        const args = listAt(prompt, "arguments").map((argument) => String(argument.name));
        for (const argument of args)
          await complete({ type: "ref/prompt", name: prompt.name }, argument);
        const filled = Object.fromEntries(args.map((argument) => [argument, "x"]));
        await recorder.complete("prompts/get", { name: prompt.name, arguments: filled });
        await recorder.complete("prompts/get", { name: prompt.name });
      }
    });

    it("answers bad calls of every tool", async () => {
      const { calls, failures = {} } = there();
      for (const tool of tools) {
        const good = calls[tool.name] ?? {};
        const call = async (args: Fields) =>
          fieldsAt(
            await talk.recorder.complete("tools/call", { name: tool.name, arguments: args }),
            "result",
          );
        const unknown = await call({ ...good, "an unknown one": 1 });
        expect(unknown.isError, JSON.stringify(unknown)).toBe(true);
        await call(wrongTypes(good));
        const failure = failures[tool.name];
        if (failure !== undefined) await call({ ...failure });
      }
    });

    it("answers good calls, of read-only tools first", async () => {
      const [reading, writing] = [true, false].map((kind) =>
        tools.filter(({ reads }) => reads === kind),
      );
      for (const tool of [
        ...(reading ?? []),
        ...(WHOLE.includes(revision) ? (writing ?? []) : []),
      ]) {
        const params = { name: tool.name, arguments: { ...there().calls[tool.name] } };
        const reply = await talk.recorder.complete("tools/call", params, {
          progressToken: tool.name,
        });
        expect(reply, JSON.stringify(reply)).toHaveProperty("result");
        // One change may prevent the next.
        if (tool.reads)
          expect(fieldsAt(reply, "result").isError, JSON.stringify(reply)).not.toBe(true);
      }
    });
  });
});

/** The same arguments, each replaced with a value of another type. */
function wrongTypes(args: Readonly<Record<string, unknown>>): Fields {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, typeof value === "object" ? "x" : {}]),
  );
}
