import { describe, expect, expectTypeOf, it } from "vitest";
import { type CommonOptionValues, commonOptions } from "../define/common-options.ts";
import { defineOptions, type OptionTable, type OptionValues } from "../define/options.ts";
import { checkOptionTable } from "./option-table.ts";
import { type OptionsOwner, serverOptions } from "./server-options.ts";

const checkOptions = (owner: OptionsOwner<OptionTable>) =>
  checkOptionTable(owner.name, serverOptions(owner).table);

const own = defineOptions({ maxReadChars: { type: "integer", description: "Most characters." } });
const toolsets = {
  read: { description: "Reads.", default: true },
  danger: { description: "Loses things.", default: false },
};

describe("the common options", () => {
  it("are a good table", () => {
    expect(() => checkOptionTable("x", commonOptions)).not.toThrow();
  });

  it("have the documented flags, ranges and defaults", () => {
    expect(commonOptions.timeoutMs).toMatchObject({ default: 50_000 });
    expect(commonOptions.maxAnswerChars).toMatchObject({ default: 20_000, max: 80_000 });
    expect(commonOptions.maxMessageBytes).toMatchObject({ default: 16 * 1024 * 1024 });
    expectTypeOf<OptionValues<typeof commonOptions>["logLevel"]>().toEqualTypeOf<
      "debug" | "info" | "warning" | "error"
    >();
    expectTypeOf<CommonOptionValues["confirm"]>().toEqualTypeOf<"ask" | "never">();
    expectTypeOf<CommonOptionValues["clientRoots"]>().toEqualTypeOf<"narrow" | "replace" | "off">();
    expectTypeOf<CommonOptionValues["directories"]>().toEqualTypeOf<readonly string[]>();
    expectTypeOf<CommonOptionValues["printConfig"]>().toExtend<string | undefined>();
  });
});

describe("serverOptions", () => {
  it("adds to the server's own what applies to it", () => {
    const plain = Object.keys(serverOptions({ name: "fetch", options: own }).table);
    expect(plain).toEqual(["maxReadChars", ...Object.keys(commonOptions)]);
    const full = Object.keys(serverOptions({ name: "git", options: own, directories: {}, toolsets }).table);
    expect(full.filter((key) => !plain.includes(key))).toEqual(["directories", "clientRoots", "toolsets"]);
  });

  it("offers the server's toolsets, with its defaults", () => {
    expect(serverOptions({ name: "git", options: {}, toolsets }).table.toolsets).toMatchObject({
      type: "enum",
      list: true,
      values: ["read", "danger"],
      default: ["read"],
    });
    expect(serverOptions({ name: "git", options: {}, toolsets: {} }).table).not.toHaveProperty("toolsets");
  });

  it("refuses a table that takes a common option or is badly made", () => {
    const flag = { type: "flag", description: "D." } as const;
    const clash = () => serverOptions({ name: "x", options: { readOnly: flag } });
    expect(clash).toThrow("Option table of x: readOnly is a common option already.");
    const sameFlag = () => checkOptions({ name: "x", options: { quick: { ...flag, flag: "tools" } } });
    expect(sameFlag).toThrow("the flag --tools is taken by quick");
    const twoPositionals = () =>
      checkOptions({
        name: "x",
        directories: {},
        options: { file: { type: "file", positional: true, description: "D." } },
      });
    expect(twoPositionals).toThrow("file: directories is positional already");
  });
});
