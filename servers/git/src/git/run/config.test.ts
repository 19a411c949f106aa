import { describe, expect, it } from "vitest";
import {
  isTrue,
  lastValue,
  overridesFor,
  ownCredentialHelpers,
  parseConfig,
  splitKey,
} from "./config.ts";

const config = (...entries: [scope: string, text: string][]) =>
  parseConfig(Buffer.from(entries.map(([scope, text]) => `${scope}\0file:/c\0${text}\0`).join("")));

describe("parseConfig", () => {
  it("reads scopes, keys with any subsection, values with line breaks, and keys without a value", () => {
    const entries = config(
      ["global", "user.name\nAda"],
      ["local", "filter.a=b.clean\nline 1\nline 2"],
      ["worktree", "core.bare"],
      ["command", "core.fsmonitor\nfalse"],
    );
    expect(entries).toEqual([
      { own: true, origin: "/c", key: "user.name", value: "Ada" },
      { own: false, origin: "/c", key: "filter.a=b.clean", value: "line 1\nline 2" },
      { own: false, origin: "/c", key: "core.bare", value: "true" },
    ]);
    expect(splitKey("url.https://a.b/.insteadof")).toEqual(["url", "https://a.b/", "insteadof"]);
    expect(splitKey("core.bare")).toEqual(["core", "", "bare"]);
    expect(lastValue(config(["global", "a.b\n1"], ["local", "a.b\n2"]), "a.b")).toBe("2");
    expect(["true", "YES", "on", "1", "2"].map(isTrue)).toEqual(Array(5).fill(true));
    expect(["false", "no", "0", "", undefined].map(isTrue)).toEqual(Array(5).fill(false));
  });
});

describe("overridesFor", () => {
  const overriding = (...keys: string[]) =>
    new Map(
      overridesFor(config(...keys.map((key): [string, string] => ["local", `${key}\n/evil`]))),
    );

  it("overrides only settings that run something", () => {
    const found = overriding(
      "filter.x.y.clean",
      "filter.x.required",
      "diff.x.textconv",
      "diff.orderfile",
      "merge.x.driver",
      "credential.https://a.b.helper",
      "hook.lint.command",
      "alias.x",
      "user.name",
      "branch.main.remote",
    );
    expect(found.get("filter.x.y.clean")).toBe("");
    expect(found.get("filter.x.required")).toBe("false");
    expect(found.get("diff.x.textconv")).toBe("");
    expect(found.get("diff.orderfile")).toBe("/dev/null");
    expect(found.get("merge.x.driver")).toMatch(/^git merge-file /);
    expect(found.get("credential.https://a.b.helper")).toBe("");
    expect(found.get("hook.lint.enabled")).toBe("false");
    expect(found.get("core.fsmonitor")).toBe("false");
    for (const key of ["alias.x", "user.name", "branch.main.remote"])
      expect(found.has(key), key).toBe(false);
  });

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

  it("takes the signing program from the user's configuration, never the repository's", () => {
    const entries = config(
      ["global", "gpg.program\n/usr/bin/gpg2"],
      ["local", "gpg.program\n/evil"],
    );
    expect(new Map(overridesFor(entries)).get("gpg.program")).toBe("/usr/bin/gpg2");
    expect(overriding("gpg.program", "gpg.ssh.program").get("gpg.ssh.program")).toBe("ssh-keygen");
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
