import { describe, expect, it } from "vitest";
import { Secrets } from "./secrets.ts";

describe("secrets", () => {
  const secrets = new Secrets([
    ["PIN", "1234"],
    ["PASSWORD", 'p"a ss&<1>'],
  ]);

  it("are taken out in every encoding", () => {
    const value = 'p"a ss&<1>';
    const encodings = [
      value,
      encodeURIComponent(value),
      JSON.stringify(value),
      Buffer.from(value).toString("base64"),
    ];
    for (const encoding of encodings) {
      const clean = secrets.redact(`before ${encoding} after`);
      expect(clean).toContain("[secret PASSWORD]");
      expect(clean).not.toContain("ss&");
    }
    expect(secrets.redact("http://me:word@example.org/")).toBe("http://[credentials]@example.org/");
  });

  it("leave numbers unchanged, even with the digits of a secret", () => {
    expect(
      secrets.redactIn({ ms: 12_345, text: "the PIN is 1234", list: [{ url: "/?pin=1234" }] }),
    ).toEqual({
      ms: 12_345,
      text: "the PIN is [secret PIN]",
      list: [{ url: "/?pin=[secret PIN]" }],
    });
  });

  it("are referenced by name only", () => {
    expect(secrets.value("PIN")).toBe("1234");
    expect(() => secrets.value("PINN")).toThrow(
      "There is no secret PINN; available: PASSWORD, PIN.",
    );
  });
});
