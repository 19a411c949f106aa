import { describe, expect, expectTypeOf, it } from "vitest";
import { checkOptionTable } from "../../../testing/src/option-table.ts";
import { type CommonOptionValues, commonOptions } from "../define/common-options.ts";
import {
  defineOptions,
  type Option,
  type OptionTable,
  type OptionValues,
} from "../define/options.ts";
import {
  defaultText,
  type OptionsOwner,
  optionEntries,
  rangeText,
  serverOptions,
} from "./options.ts";

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
    expect(rangeText({ min: undefined, ...option })).toBe(range);
  });
});

const checkOptions = (owner: OptionsOwner<OptionTable>) =>
  checkOptionTable(owner.name, serverOptions(owner).table);

const own = defineOptions({ maxReadChars: { type: "integer", description: "Most characters." } });
const toolsets = {
  read: { description: "Reads.", default: true },
  danger: { description: "Loses things.", default: false },
};

describe("the common options", () => {
  it("are a valid table", () => {
    expect(() => checkOptionTable("x", commonOptions)).not.toThrow();
  });

  it("are at most 16, and 16 for HTTP", () => {
    const { table } = serverOptions({ name: "x", options: {}, directories: {}, toolsets: {} });
    const isHttp = ({ heading }: Option) => heading === "HTTP";
    const all = Object.values<Option>(table);
    expect(all.filter(isHttp)).toHaveLength(16);
    expect(all.filter((option) => !isHttp(option))).toHaveLength(16);
  });

  it("have the documented flags, ranges and defaults", () => {
    expect(commonOptions.timeoutMs).toMatchObject({ default: 50_000 });
    expect(commonOptions.maxAnswerChars).toMatchObject({ default: 20_000, max: 80_000 });
    expectTypeOf<OptionValues<typeof commonOptions>["logLevel"]>().toEqualTypeOf<
      "debug" | "info" | "warning" | "error"
    >();
    expectTypeOf<CommonOptionValues["confirm"]>().toEqualTypeOf<"ask" | "never">();
    expectTypeOf<CommonOptionValues["clientRoots"]>().toEqualTypeOf<"narrow" | "replace" | "off">();
    expectTypeOf<CommonOptionValues["directories"]>().toEqualTypeOf<readonly string[]>();
    expectTypeOf<CommonOptionValues["printConfig"]>().toEqualTypeOf<boolean>();
  });
});

describe("serverOptions", () => {
  it("adds the common options that apply to the server", () => {
    const plain = Object.keys(serverOptions({ name: "fetch", options: own }).table);
    expect(plain.toSorted()).toEqual(
      ["maxReadChars", "toolsets", ...Object.keys(commonOptions)].toSorted(),
    );
    const full = Object.keys(
      serverOptions({ name: "git", options: own, directories: {}, toolsets }).table,
    );
    expect(full.filter((key) => !plain.includes(key))).toEqual(["directories", "clientRoots"]);
  });

  it("offers the server's toolsets, and all or the default ones in every server", () => {
    expect(serverOptions({ name: "git", options: {}, toolsets }).table.toolsets).toMatchObject({
      type: "enum",
      list: true,
      values: ["all", "default", "read", "danger"],
      description:
        "Offer the tools of these toolsets instead of the default ones: all, default (read), read, danger.",
    });
    expect(serverOptions({ name: "fetch", options: {} }).table.toolsets).toMatchObject({
      values: ["all", "default"],
    });
  });

  it("refuses a table that redefines a common option or is invalid", () => {
    const flag = { type: "flag", description: "D." } as const;
    const clash = () => serverOptions({ name: "x", options: { readOnly: flag } });
    expect(clash).toThrow("Option table of x: readOnly is already a common option.");
    const sameFlag = () =>
      checkOptions({ name: "x", options: { quick: { ...flag, flag: "tools" } } });
    expect(sameFlag).toThrow("the flag --tools is taken by quick");
    const twoPositionals = () =>
      checkOptions({
        name: "x",
        directories: {},
        options: { file: { type: "file", positional: true, description: "D." } },
      });
    expect(twoPositionals).toThrow("file: the positional argument is taken by directories");
  });
});
