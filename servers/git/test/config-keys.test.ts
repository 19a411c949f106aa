import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { overridesFor, parseConfig } from "../src/git/run/config.ts";
import { OVERRIDDEN, PLAIN, REFUSED, SAFE } from "./config-keys.ts";
import { cloned, git, place, sampleRepository, useTestDirectory } from "./fixture.ts";
import { canary, configText, set, submodule } from "./traps.ts";
import { VECTORS } from "./vectors.ts";

useTestDirectory();

const keysIn = (text: string) => text.trim().split(/\s+/);
/** A key of the table as a pattern: `*` and `<name>` match anything. */
const patternOf = (key: string) =>
  new RegExp(`^${key.replaceAll(".", "\\.").replaceAll(/<[^>]+>|\*/g, ".+")}$`, "is");
/** One key that the pattern matches. */
const exampleOf = (key: string) => key.replaceAll(/<[^>]+>/g, "origin");

describe("the configuration keys that git documents", () => {
  it("are each classified: whether it specifies a program, a file, a URL or an address", () => {
    const root = sampleRepository(place.path("repo"));
    submodule(root);
    for (const name of ["origin", "login"])
      set(root, [`remote.${name}.url`, "http://127.0.0.1/x.git"]);
    const { program } = canary(place.path("evil"));
    for (const vector of VECTORS) vector.plant(root, program);
    const trapped = git(root, "config", "--list", "--name-only").split("\n");
    const listed = [OVERRIDDEN, REFUSED, ...Object.values(SAFE), PLAIN];
    const patterns = listed.flatMap(keysIn).map(patternOf);
    // hasconfig: is a condition in the name of another key.
    const isTrapped = (key: string) =>
      trapped.some((name) =>
        patternOf(key.replace(/^hasconfig:.*/, "includeif.$&:<glob>.path")).test(name),
      );
    const documented = git(place.folder, "help", "-c").match(/^\w\S*$/gm) ?? [];
    expect(documented.length).toBeGreaterThan(700);
    const isKnown = (key: string) =>
      patterns.some((pattern) => pattern.test(key)) || isTrapped(key);
    expect(documented.filter((key) => !isKnown(key))).toEqual([]);
  });

  it("are overridden", () => {
    for (const key of keysIn(OVERRIDDEN)) {
      const name = exampleOf(key).replace(/[^.]*$/, (variable) => variable.toLowerCase());
      const entry = `local\0file:/c\0${name.replace(/^[^.]*/, (section) => section.toLowerCase())}\n/evil\0`;
      const pairs = overridesFor(parseConfig(Buffer.from(entry)));
      const [, value = "/evil"] =
        pairs.find(([pairKey]) => pairKey.toLowerCase() === name.toLowerCase()) ?? [];
      expect(value, key).not.toBe("/evil");
    }
  });

  it("are refused if they are thousands", () => {
    const lines = (count: number) =>
      Array.from({ length: count }, (_, index) => `local\0file:/c\0filter.x${index}.clean\nx\0`);
    const overridden = (count: number) =>
      overridesFor(parseConfig(Buffer.from(lines(count).join(""))));
    expect(overridden(1_000).length).toBeGreaterThan(1_000);
    expect(() => overridden(3_000)).toThrow(/sets 3\d\d\d keys that run programs/);
  });

  it("are refused by the tools that talk to remotes", async () => {
    const { root, server, code } = await cloned();
    const before = server.requests.length;
    const config = join(root, ".git", "config");
    const plain = readFileSync(config, "utf8");
    for (const key of keysIn(REFUSED).map(exampleOf)) {
      writeFileSync(config, plain + configText([[key, "x"]]));
      expect(await code("git_fetch"), key).toBe("unsafe_config");
    }
    expect(server.requests.length).toBe(before);
  });

  it("are safe for reasons that a test proves, if one is given", () => {
    for (const reason of Object.keys(SAFE)) {
      const [, file, title] = /\(([\w.-]+\.ts): (.*)\)$/s.exec(reason) ?? [];
      if (file === undefined || title === undefined) continue;
      expect(readFileSync(join(import.meta.dirname, file), "utf8"), reason).toContain(
        `it("${title}"`,
      );
    }
  });
});
