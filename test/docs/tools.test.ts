import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { ROOT, SERVERS, serverBin } from "../servers.ts";

const execute = promisify(execFile);
const page = await readFile(join(ROOT, "docs", "tools.md"), "utf8");

interface Schema {
  readonly properties?: Record<string, Schema> | undefined;
  readonly items?: Schema | undefined;
}
const schema: z.ZodType<Schema> = z.lazy(() =>
  z.object({ properties: z.record(z.string(), schema).optional(), items: schema.optional() }),
);
const described = z.object({ tools: z.array(z.object({ name: z.string(), inputSchema: schema })) });

/** `edits`, `edits[].oldText`. */
function namesIn({ properties = {}, items }: Schema, prefix = ""): string[] {
  return [
    ...Object.entries(properties).flatMap(([name, property]) => [
      prefix + name,
      ...namesIn({ properties: property.properties }, `${prefix}${name}.`),
      ...namesIn({ properties: property.items?.properties }, `${prefix}${name}[].`),
    ]),
    ...(items === undefined ? [] : namesIn(items, `${prefix}[].`)),
  ];
}

describe.each(SERVERS)("docs/tools.md on %s", (server) => {
  it("has every argument of every tool, and the fields of those that are objects", async () => {
    const { stdout } = await execute(process.execPath, [serverBin(server), "--describe"], {
      maxBuffer: 64 * 1024 * 1024,
    });
    for (const { name, inputSchema } of described.parse(JSON.parse(stdout)).tools) {
      const section = new RegExp(`^### ${name}\n[\\s\\S]*?(?=^##)`, "m").exec(`${page}\n##`)?.[0] ?? "";
      const rows = [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, argument]) => argument);
      expect(rows, name).toEqual(namesIn(inputSchema));
    }
  });
});

it("names the fields of an edit", () => {
  expect(page).toContain("| `edits[].oldText` (required) | string |");
});
