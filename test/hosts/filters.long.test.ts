import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, it } from "vitest";
import { READY } from "../conformance/ready.ts";
import { type Fields, fieldsAt, listAt } from "../protocol/revisions.ts";
import { serverBin, serverWorld } from "../servers.ts";
import { FILTERS, type HostTool, meaningOf } from "./filters.ts";

const execute = promisify(execFile);
const ajv = new Ajv2020({ strict: false });

describe.each(READY)("the tools of the %s server", (name) => {
  let tools: HostTool[] = [];
  let calls: Readonly<Record<string, Fields>> = {};
  beforeAll(async () => {
    // Every tool, including those that need an option.
    const { stdout } = await execute(process.execPath, [serverBin(name), "--describe"], {
      maxBuffer: 2 ** 26,
    });
    tools = listAt(JSON.parse(stdout), "tools").map((tool) => ({
      name: String(tool.name),
      description: String(tool.description),
      inputSchema: fieldsAt(tool, "inputSchema"),
    }));
    const world = await serverWorld(name);
    ({ calls } = world);
    await world.dispose();
  });

  it.each(FILTERS)("pass through $host without loss", ({ host, apply }) => {
    expect(tools).not.toEqual([]);
    const names = new Set<string>();
    for (const tool of tools) {
      const seen = apply(name, tool);
      expect(seen.name, `${host} still shows the whole name`).toMatch(
        new RegExp(`(^|_)${tool.name}$`),
      );
      names.add(seen.name);
      expect(seen.description, tool.name).toBe(tool.description);
      expect(meaningOf(seen.inputSchema), tool.name).toEqual(meaningOf(tool.inputSchema));
      const accepts = ajv.compile(seen.inputSchema);
      const call = calls[tool.name];
      if (call === undefined || accepts(call) || accepts(withTextValues(call))) continue;
      expect.fail(
        `${host} would not accept a good call of ${tool.name}: ${ajv.errorsText(accepts.errors)}`,
      );
    }
    expect(names.size, "each tool keeps a unique name").toBe(tools.length);
  });
});

/** The same call with the values of a SQL statement as text, see `meaningOf`. */
function withTextValues(call: Fields): Fields {
  return JSON.parse(JSON.stringify(call), (key, value) =>
    key === "params" && Array.isArray(value) ? value.map(String) : value,
  );
}

it("a tool that hosts cannot handle is detected", () => {
  const inputSchema = { type: "object", properties: { a: { type: "array" } } };
  const bad = { name: `a_${"very_".repeat(12)}long_name`, description: "It.", inputSchema };
  const harmed = FILTERS.filter(({ apply }) => {
    try {
      return !apply("server", bad).name.endsWith(bad.name);
    } catch {
      return true;
    }
  });
  expect(harmed).toEqual(FILTERS);
});
