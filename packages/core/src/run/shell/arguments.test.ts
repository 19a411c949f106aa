import { describe, expect, it } from "vitest";
import { readArguments } from "./arguments.ts";

const input = {
  properties: { path: { type: "string" }, depth: { type: "integer" } },
  required: ["path"],
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
    [[], false],
    [["--json"], true],
  ])("%j prints the full result: %s", (words, isJson) => {
    expect(read(input, "a", ...words)).toMatchObject({ isJson, json: '{"path":"a"}' });
  });
});
