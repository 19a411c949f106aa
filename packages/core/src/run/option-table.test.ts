import { describe, expect, expectTypeOf, it } from "vitest";
import { checkOptionTable } from "../../../testing/src/option-table.ts";
import { type CommonOptionValues, commonOptions } from "../define/common-options.ts";
import {
  defineOptions,
  type Option,
  type OptionTable,
  type OptionValues,
} from "../define/options.ts";
import { type OptionsOwner, serverOptions } from "./options.ts";

const checkOptions = (owner: OptionsOwner<OptionTable>) =>
  checkOptionTable(owner.name, serverOptions(owner).table);

const own = defineOptions({ maxReadChars: { type: "integer", description: "Most characters." } });
const toolsets = {
  read: { description: "Reads.", default: true },
  danger: { description: "Loses things.", default: false },
};

describe("the common options", () => {
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
