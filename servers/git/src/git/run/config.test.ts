import { describe, expect, it } from "vitest";
import { overridesFor, ownCredentialHelpers, parseConfig } from "./config.ts";

const config = (...entries: [scope: string, text: string][]) =>
  parseConfig(Buffer.from(entries.map(([scope, text]) => `${scope}\0file:/c\0${text}\0`).join("")));

describe("overridesFor", () => {
  it("refuses a configuration that sets thousands of them", () => {
    const filters = (count: number) =>
      config(
        ...Array.from({ length: count }, (_, index): [string, string] => [
          "local",
          `filter.x${index}.clean\ntouch /tmp/x`,
        ]),
      );
    expect(overridesFor(filters(1_000)).length).toBeGreaterThan(1_000);
    expect(() => overridesFor(filters(3_000))).toThrow(/sets 3\d\d\d keys that run programs/);
  });

  it("passes on only the user's credential helpers, in order", () => {
    const entries = config(
      ["system", "credential.helper\ncache"],
      ["global", "credential.https://a.b.helper\n!own"],
      ["local", "credential.helper\n!evil"],
    );
    expect(ownCredentialHelpers(entries)).toEqual([
      ["credential.helper", "cache"],
      ["credential.https://a.b.helper", "!own"],
    ]);
  });
});
