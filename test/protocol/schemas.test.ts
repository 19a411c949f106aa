import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { badSamples } from "./bad-samples.ts";
import { validateServerMessage } from "./messages.ts";
import { mutations } from "./mutations.ts";
import { readPackage } from "./published.ts";
import { fieldsAt, REVISIONS, type Revision } from "./revisions.ts";
import { samples } from "./samples.ts";
import { officialSchema } from "./schemas.ts";

/** Places where a schema allows any type. */
function free(revision: Revision): string[] {
  const tool = "result of tools/list: /result/tools/0";
  const call = "result of tools/call: /result/structuredContent";
  const open = [`${tool}/inputSchema/properties/a/type`];
  if (revision >= "2025-06-18") open.push(`${call}/a`);
  if (revision >= "2026-07-28") {
    open.push(call, `${tool}/inputSchema/properties`, `${tool}/inputSchema/properties/a`);
    open.push(
      `${tool}/inputSchema/required`,
      `${tool}/inputSchema/required/0`,
      `${tool}/outputSchema/type`,
    );
  }
  const data = ["/error/data", "/error/data/why"].map((path) => `error of tools/list: ${path}`);
  return [...open, ...data, "notifications/message: /params/data"].sort();
}

describe.each(REVISIONS)("%s, the validator", (revision) => {
  const all = samples(revision).map((sample) => ({
    ...sample,
    name: String(
      sample.message.method ??
        `${"error" in sample.message ? "error" : "result"} of ${sample.method ?? "nothing"}`,
    ),
  }));

  it.each(all)("accepts a valid $name", ({ message, method }) => {
    expect(validateServerMessage(revision, message, method)).toEqual([]);
  });

  it("rejects each of them with one value of another type, unless every type is allowed", () => {
    const accepted = all.flatMap(({ name, message, method }) =>
      mutations(message)
        .filter(
          (mutation) => validateServerMessage(revision, mutation.message, method).length === 0,
        )
        .map((mutation) => `${name}: ${mutation.path}`),
    );
    expect(accepted.sort()).toEqual(free(revision));
  });

  it.each(badSamples(revision))("rejects $name", ({ message, method }) => {
    expect(validateServerMessage(revision, message, method)).not.toEqual([]);
  });

  it("has a sample of every notification and question in the revision", () => {
    const schema = officialSchema(revision);
    const sampled = new Set(all.map(({ message }) => message.method));
    const known = [
      ...schema.byMethod("ServerNotification").keys(),
      ...schema.byMethod("ServerRequest").keys(),
    ];
    // Tasks are an extension that core does not serve; nothing in core ends an elicitation by itself.
    const unserved = /tasks|elicitation\/complete/;
    expect(known.filter((method) => !sampled.has(method) && !unserved.test(method))).toEqual([]);
  });
});

describe("the schemas of the package", () => {
  const read = (name: string) =>
    readFileSync(
      new URL(`../node_modules/@modelcontextprotocol/conformance/${name}`, import.meta.url),
      "utf8",
    );
  const manifest = read("package.json");

  it("belong to their revisions", () => {
    // What each revision introduced.
    expect(officialSchema("2024-11-05").has("AudioContent")).toBe(false);
    expect(officialSchema("2025-03-26").has("AudioContent")).toBe(true);
    expect(officialSchema("2025-03-26").has("ElicitRequest")).toBe(false);
    expect(officialSchema("2025-06-18").has("ElicitRequest")).toBe(true);
    expect(officialSchema("2025-06-18").has("ElicitRequestURLParams")).toBe(false);
    expect(officialSchema("2025-11-25").has("ElicitRequestURLParams")).toBe(true);
    expect(officialSchema("2025-11-25").has("DiscoverResult")).toBe(false);
    expect(officialSchema("2026-07-28").has("DiscoverResult")).toBe(true);
    expect(fieldsAt(officialSchema("2026-07-28").definitions, "InitializeRequest")).toEqual({});
  });

  it.each([
    [
      "another version",
      JSON.stringify({ version: "9.9.9" }),
      "",
      /version 9\.9\.9 is installed.*0\.2\.0-alpha\.12/,
    ],
    ["a bundle without schemas", manifest, "const a = 1;", /in 0 objects instead of one/],
    [
      "a bundle with two maps",
      manifest,
      'const a={$schema:"x",$defs:{}};const b={"2025-11-25":a},c={"2025-11-25":a};',
      /in 2 objects instead of one/,
    ],
    [
      "a bundle with other revisions",
      manifest,
      'const a={$schema:"x",$defs:{}};const b={"2025-11-25":a};',
      /2025-11-25 instead of 2025-03-26, 2025-06-18/,
    ],
    [
      "a schema without definitions",
      manifest,
      'const v=`2026-07-28`,a={$schema:"x",$defs:{}},b={"2025-03-26":a,"2025-06-18":a,"2025-11-25":a,[v]:a};',
      /does not define JSONRPCMessage/,
    ],
    [
      "a schema that is computed",
      manifest,
      'const a={$schema:"x",$defs:f()},b={"2025-11-25":a};',
      /CallExpression at offset \d+ is not a literal/,
    ],
  ])("are not taken from %s", (_name, manifestText, bundle, message) => {
    expect(() => readPackage(manifestText, bundle)).toThrow(message);
  });
});
