import { describe, expect, it } from "vitest";
import { readArguments } from "./arguments.ts";
import { forPerson } from "./output.ts";

const input = {
  properties: { path: { type: "string" }, depth: { type: "integer" } },
  required: ["path"],
};
const query = {
  properties: { sql: { type: "string" }, format: { type: "string", enum: ["rows", "csv"] } },
  required: ["sql"],
};
const read = (schema: object, ...words: string[]) =>
  readArguments("tool", { ...schema }, words, () => "");

describe("readArguments", () => {
  it("names the required arguments that are missing", () => {
    expect(read(input, "--depth", "2").missing).toEqual(["path"]);
    expect(read(input, "a.txt").missing).toEqual([]);
    expect(read(input, "--args", '{"path":"a"}').missing).toEqual([]);
  });

  it.each([
    [[], "text"],
    [["--json"], "json"],
    [["--format", "json"], "json"],
    [["--format=table"], "table"],
    [["--format", "text"], "text"],
  ])("%j prints as %s", (words, form) => {
    expect(read(input, "a", ...words)).toMatchObject({ form, json: '{"path":"a"}' });
  });

  it("leaves a tool its own --format, except for table", () => {
    expect(read(query, "q", "--format", "csv")).toMatchObject({
      form: "text",
      json: '{"sql":"q","format":"csv"}',
    });
    expect(read(query, "q", "--format", "table")).toMatchObject({
      form: "table",
      json: '{"sql":"q"}',
    });
    const own = { properties: { format: { enum: ["table"] } } };
    expect(read(own, "--format", "table")).toMatchObject({
      form: "text",
      json: '{"format":"table"}',
    });
  });

  it("refuses another format", () => {
    expect(() => read(input, "a", "--format", "xml")).toThrow(
      "--format takes one of text, json, table.",
    );
  });
});

describe("forPerson", () => {
  it.each([
    [
      "Use a path inside, or ask the user to start the server with that directory as an argument or --root.",
      "Use a path inside, or start the server with that directory as an argument or --root.",
    ],
    [
      "Ask the user to create it, or to start the server with another directory argument or --root.",
      "Create it, or start the server with another directory argument or --root.",
    ],
    ["List the directory to see its contents.", "List the directory to see its contents."],
  ])("%s", (text, expected) => {
    expect(forPerson(text)).toBe(expected);
  });
});
