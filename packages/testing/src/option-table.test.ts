import type { OptionTable } from "@refmcp/core";
import { describe, expect, it } from "vitest";
import { checkOptionTable } from "./option-table.ts";

describe("checkOptionTable", () => {
  const description = "D.";

  it("accepts a good table", () => {
    expect(() =>
      checkOptionTable("x", {
        a: { type: "flag", description },
        b: { type: "url", default: "https://a.example", description },
      }),
    ).not.toThrow();
  });

  it.each<[OptionTable, string]>([
    [{ ReadOnly: { type: "flag", description } }, "ReadOnly: the key is not camelCase"],
    [{ a: { type: "flag", flag: "A_b", description } }, 'the flag "A_b" is not kebab-case'],
    [
      { a: { type: "file", ask: true, description } },
      "a: an option that is asked for needs the words of a form",
    ],
    [{ noJournal: { type: "flag", description } }, 'the flag "no-journal" begins with "no-"'],
    [
      { a: { type: "flag", description }, b: { type: "flag", flag: "a", description } },
      "b: the flag --a is taken by a",
    ],
    [
      {
        a: { type: "string", env: ["DSN"], description },
        b: { type: "string", env: ["DSN"], description },
      },
      "b: the variable DSN is taken by a",
    ],
    [
      { a: { type: "string", env: ["my-var"], description } },
      '"my-var" is not a valid environment variable name',
    ],
    [
      {
        a: { type: "file", positional: true, description },
        b: { type: "file", positional: true, description },
      },
      "b: the positional argument is taken by a",
    ],
    [
      { a: { type: "flag", description: "no full stop" } },
      "a: the description is not a sentence on one line",
    ],
    [
      { a: { type: "flag", description: "Two\nlines." } },
      "a: the description is not a sentence on one line",
    ],
    [{ a: { type: "enum", values: [], description } }, "a: an enum needs values"],
    [
      { a: { type: "enum", values: ["x"], default: "y", description } },
      'a: the default is "y"; it takes one of x',
    ],
    [
      { a: { type: "enum", list: true, values: ["x"], default: ["x", "y"], description } },
      'the default is "y"',
    ],
    [
      { a: { type: "integer", min: 2, default: 1, description } },
      'a: the default is "1"; it takes an integer (at least 2)',
    ],
    [
      { a: { type: "integer", default: 1.5, description } },
      'a: the default is "1.5"; it takes an integer',
    ],
    [
      { a: { type: "url", default: "nowhere", description } },
      'a: the default is "nowhere"; it takes a URL',
    ],
  ])("%j", (table, problem) => {
    expect(() => checkOptionTable("x", table)).toThrow(TypeError);
    expect(() => checkOptionTable("x", table)).toThrow(problem);
  });
});
