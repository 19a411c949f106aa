import { describe, expect, it } from "vitest";
import { checkOptionTable } from "../../../testing/src/option-table.ts";
import type { Option, OptionTable } from "../define/options.ts";
import { type OptionsOwner, serverOptions } from "./options.ts";

const checkOptions = (owner: OptionsOwner<OptionTable>) =>
  checkOptionTable(owner.name, serverOptions(owner).table);

describe("the common options", () => {
  it("are at most 16, and 16 for HTTP", () => {
    const { table } = serverOptions({ name: "x", options: {}, directories: {}, toolsets: {} });
    const isHttp = ({ heading }: Option) => heading === "HTTP";
    const all = Object.values<Option>(table);
    expect(all.filter(isHttp)).toHaveLength(16);
    expect(all.filter((option) => !isHttp(option))).toHaveLength(16);
  });
});

describe("serverOptions", () => {
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
