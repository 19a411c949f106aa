import { describe, expect, expectTypeOf, it } from "vitest";
import { defineOptions, type NamedValue, type OptionTable, type OptionValues } from "./options.ts";

const table = defineOptions({
  directories: { type: "directory", list: true, positional: true, flag: "root", description: "D." },
  database: { type: "file", description: "D." },
  proxy: { type: "url", description: "D." },
  home: { type: "url", description: "D.", default: "https://example.com/" },
  readOnly: { type: "flag", description: "D." },
  journal: { type: "flag", description: "D.", default: true },
  maxReadChars: { type: "integer", description: "D.", min: 1, max: 10, default: 5 },
  depth: { type: "integer", description: "D." },
  confirm: { type: "enum", values: ["ask", "never"], description: "D.", default: "ask" },
  hooks: { type: "enum", values: ["off", "run"], description: "D." },
  toolsets: {
    type: "enum",
    list: true,
    values: ["read", "write"],
    default: ["read"],
    description: "D.",
  },
  token: { type: "secret", description: "D." },
  ignore: { type: "string", list: true, commas: false, description: "D." },
  agent: {
    type: "string",
    description: "D.",
    check: (value) => (value.includes("\n") ? "takes a line" : undefined),
  },
  db: { type: "secret", named: "unique", description: "D." },
  port: { type: "integer", named: "repeated", description: "D." },
});
type Values = OptionValues<typeof table>;

describe("OptionValues", () => {
  it("gives each type its value, without casts", () => {
    expectTypeOf<Values["directories"]>().toEqualTypeOf<readonly string[]>();
    expectTypeOf<Values["database"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Values["proxy"]>().toEqualTypeOf<URL | undefined>();
    expectTypeOf<Values["home"]>().toEqualTypeOf<URL>();
    expectTypeOf<Values["readOnly"]>().toEqualTypeOf<boolean>();
    expectTypeOf<Values["journal"]>().toEqualTypeOf<boolean>();
    expectTypeOf<Values["maxReadChars"]>().toEqualTypeOf<number>();
    expectTypeOf<Values["depth"]>().toEqualTypeOf<number | undefined>();
    expectTypeOf<Values["confirm"]>().toEqualTypeOf<"ask" | "never">();
    expectTypeOf<Values["hooks"]>().toEqualTypeOf<"off" | "run" | undefined>();
    expectTypeOf<Values["toolsets"]>().toEqualTypeOf<readonly ("read" | "write")[]>();
    expectTypeOf<Values["token"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Values["ignore"]>().toEqualTypeOf<readonly string[]>();
    expectTypeOf<Values["agent"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Values["db"]>().toEqualTypeOf<readonly NamedValue<string>[]>();
    expectTypeOf<Values["port"]>().toEqualTypeOf<readonly NamedValue<number>[]>();
  });

  it("has every key and no other", () => {
    expectTypeOf<keyof Values>().toEqualTypeOf<keyof typeof table>();
  });

  it("is assignable to the general type of tables", () => {
    expectTypeOf<typeof table>().toExtend<OptionTable>();
  });
});

describe("defineOptions", () => {
  it("does not compile with a default that does not fit", () => {
    const description = "D.";
    // @ts-expect-error a list's default is a list
    defineOptions({ root: { type: "directory", list: true, default: "/", description } });
    // @ts-expect-error an integer's default is a number
    defineOptions({ depth: { type: "integer", default: "3", description } });
    // @ts-expect-error a secret has no default
    defineOptions({ token: { type: "secret", default: "x", description } });
    // @ts-expect-error a flag cannot be a list
    defineOptions({ quiet: { type: "flag", list: true, description } });
  });

  it("does not compile without a description or with an unknown type", () => {
    // @ts-expect-error no description
    defineOptions({ depth: { type: "integer" } });
    // @ts-expect-error there is no such type
    defineOptions({ depth: { type: "number", description: "D." } });
  });

  it("returns the table itself", () => {
    const same: OptionTable = { depth: { type: "integer", description: "D." } };
    expect(defineOptions(same)).toBe(same);
  });
});
