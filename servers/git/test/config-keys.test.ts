import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { overridesFor, parseConfig } from "../src/git/run/config.ts";
import { OVERRIDDEN, PLAIN, REFUSED, SAFE, TRAPPED } from "./config-keys.ts";
import { callTool, codeOf, git, sampleRepository } from "./fixture.ts";
import { canary, configText } from "./traps.ts";
import { cloned, over, place, useTestDirectory } from "./upstream.ts";
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
    const table = [...Object.values(TRAPPED), OVERRIDDEN, REFUSED, ...Object.values(SAFE), PLAIN];
    const known = table.flatMap(keysIn).map(patternOf);
    const documented = git(place.folder, "help", "-c")
      .split("\n")
      .filter((line) => /^\w\S*$/.test(line));
    expect(documented.length).toBeGreaterThan(700);
    expect(documented.filter((key) => !known.some((pattern) => pattern.test(key)))).toEqual([]);
  });

  it("are set by the trap listed for them", () => {
    const root = sampleRepository(place.path("repo"));
    git(root, "remote", "set-url", "origin", "http://127.0.0.1/x.git");
    git(root, "remote", "add", "login", "http://127.0.0.1/y.git");
    const { program } = canary(place.path("evil"));
    const config = join(root, ".git", "config");
    const before = readFileSync(config);
    for (const [name, keys] of Object.entries(TRAPPED)) {
      writeFileSync(config, before);
      VECTORS.find((vector) => vector.name === name)?.plant(root, program);
      // hasconfig: is a condition in the name of another key.
      const set = git(root, "config", "--local", "--list", "--name-only").split("\n");
      for (const key of keysIn(keys)) {
        const pattern = patternOf(
          key.startsWith("hasconfig:") ? `includeIf.${key}:<glob>.path` : key,
        );
        expect(
          set.some((setKey) => pattern.test(setKey)),
          `${name}: ${key}`,
        ).toBe(true);
      }
    }
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

  it("are refused by the tools that talk to remotes", async () => {
    const { root, server } = await cloned();
    const before = server.requests.length;
    const config = join(root, ".git", "config");
    const plain = readFileSync(config, "utf8");
    for (const key of keysIn(REFUSED).map(exampleOf)) {
      writeFileSync(config, plain + configText([[key, "x"]]));
      expect(await codeOf(callTool(over(), "git_fetch", { repo_path: root })), key).toBe(
        "unsafe_config",
      );
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
