import { describe, expect, it } from "vitest";
import { defineOptions, type OptionTable } from "../define/options.ts";
import { checkOptionTable, defaultText, optionEntries, rangeText } from "./option-table.ts";

describe("optionEntries", () => {
  it("gives each option its flag, variables and value name", () => {
    const table = defineOptions({
      maxReadChars: { type: "integer", description: "D." },
      directories: { type: "directory", flag: "root", list: true, description: "D." },
      url: { type: "secret", env: ["DATABASE_URL", "PGURL"], description: "D." },
      db: { type: "secret", named: "unique", valueName: "URL", description: "D." },
      header: { type: "secret", named: "repeated", valueName: "HOST=HEADER", description: "D." },
      confirm: { type: "enum", values: ["ask", "never"], description: "D." },
      readOnly: { type: "flag", description: "D." },
      version: { type: "flag", env: false, description: "D." },
      ca: { type: "file", description: "D." },
    });
    expect(
      optionEntries("file-system", table).map(({ key, flag, variables, valueName }) => [
        key,
        flag,
        variables,
        valueName,
      ]),
    ).toEqual([
      ["maxReadChars", "max-read-chars", ["REFMCP_FILE_SYSTEM_MAX_READ_CHARS"], "N"],
      ["directories", "root", ["REFMCP_FILE_SYSTEM_ROOT"], "DIR"],
      ["url", "url", ["REFMCP_FILE_SYSTEM_URL", "DATABASE_URL", "PGURL"], "SECRET"],
      ["db", "db", ["REFMCP_FILE_SYSTEM_DB"], "NAME=URL"],
      ["header", "header", ["REFMCP_FILE_SYSTEM_HEADER"], "HOST=HEADER"],
      ["confirm", "confirm", ["REFMCP_FILE_SYSTEM_CONFIRM"], "ask|never"],
      ["readOnly", "read-only", ["REFMCP_FILE_SYSTEM_READ_ONLY"], ""],
      ["version", "version", [], ""],
      ["ca", "ca", ["REFMCP_FILE_SYSTEM_CA"], "FILE"],
    ]);
  });
});

describe("defaultText and rangeText", () => {
  it.each([
    [{ type: "integer", min: 1000, max: 80_000, default: 20_000 }, "20,000", "1,000 to 80,000"],
    [{ type: "integer", min: 1 }, undefined, "at least 1"],
    [{ type: "integer", max: 9 }, undefined, "at most 9"],
    [{ type: "integer" }, undefined, undefined],
    [{ type: "flag", default: true }, "on", undefined],
    [{ type: "flag" }, undefined, undefined],
    [{ type: "enum", list: true, values: ["a", "b"], default: ["a", "b"] }, "a, b", undefined],
    [{ type: "string", default: "x" }, "x", undefined],
    [{ type: "secret" }, undefined, undefined],
  ] as const)("%j", (option, preset, range) => {
    expect(defaultText({ ...option, description: "D." })).toBe(preset);
    expect(rangeText({ ...option, description: "D." })).toBe(range);
  });
});

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
    [{ a: { type: "file", ask: true, description } }, "a: an option that is asked for needs a title"],
    [{ noJournal: { type: "flag", description } }, 'the flag "no-journal" begins with "no-"'],
    [
      { a: { type: "flag", description }, b: { type: "flag", flag: "a", description } },
      "b: the flag --a is taken by a",
    ],
    [
      { a: { type: "string", env: ["DSN"], description }, b: { type: "string", env: ["DSN"], description } },
      "b: the variable DSN is taken by a",
    ],
    [
      { a: { type: "string", env: ["my-var"], description } },
      '"my-var" is no name of an environment variable',
    ],
    [
      {
        a: { type: "file", positional: true, description },
        b: { type: "file", positional: true, description },
      },
      "b: a is positional already",
    ],
    [
      { a: { type: "flag", description: "no full stop" } },
      "a: the description is not a sentence on one line",
    ],
    [{ a: { type: "flag", description: "Two\nlines." } }, "a: the description is not a sentence on one line"],
    [{ a: { type: "enum", values: [], description } }, "a: an enum needs values"],
    [
      { a: { type: "enum", values: ["x"], default: "y", description } },
      'a: the default "y" is none of its values',
    ],
    [{ a: { type: "enum", list: true, values: ["x"], default: ["x", "y"], description } }, 'the default "y"'],
    [{ a: { type: "integer", min: 2, default: 1, description } }, "a: the default 1 is out of range"],
    [{ a: { type: "integer", default: 1.5, description } }, "a: the default 1.5 is out of range"],
    [{ a: { type: "url", default: "nowhere", description } }, 'a: the default "nowhere" is no URL'],
  ])("%j", (table, problem) => {
    expect(() => checkOptionTable("x", table)).toThrow(TypeError);
    expect(() => checkOptionTable("x", table)).toThrow(problem);
  });
});
