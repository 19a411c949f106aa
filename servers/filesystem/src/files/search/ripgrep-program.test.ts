import { chmod } from "node:fs/promises";
import { delimiter } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { describe, expect, it, vi } from "vitest";
import { makeTree } from "../../../test/tree.ts";
import { findRipgrep, ripgrepEnvironment } from "./ripgrep-program.ts";

/** A program that says it is ripgrep of some version. */
const fake = (version: string) => `#!/bin/sh\necho "ripgrep ${version}"\n`;

describe("findRipgrep", () => {
  it("prefers the package", async () => {
    const tree = await makeTree({});
    expect(await findRipgrep(tree.guard)).toBe(rgPath);
  });

  it("takes one on the PATH that is new enough and outside of the allowed directories", async () => {
    vi.doMock("@vscode/ripgrep", () => {
      throw new Error("not installed");
    });
    const tree = await makeTree({
      "node_modules/.bin/rg": fake("15.0.0"),
      "outside/link/rg": { link: "../../root/node_modules/.bin/rg" },
      "outside/old/rg": fake("12.1.1 (rev x)"),
      "outside/other/rg": "#!/bin/sh\necho something else\n",
      "outside/directory/rg": null,
      "outside/good/rg": fake("14.1.0"),
    });
    const outside = (name: string) => `${tree.outside}/${name}`;
    await chmod(tree.at("node_modules/.bin/rg"), 0o755);
    for (const name of ["old", "other", "good"]) await chmod(`${outside(name)}/rg`, 0o755);
    const path = [
      "",
      ".",
      "bin",
      tree.at("node_modules/.bin"),
      ...["missing", "link", "old", "other", "directory"].map(outside),
    ];
    expect(await findRipgrep(tree.guard, path.join(delimiter))).toBeUndefined();
    expect(await findRipgrep(tree.guard, [...path, outside("good")].join(delimiter))).toBe(
      `${outside("good")}/rg`,
    );
    vi.doUnmock("@vscode/ripgrep");
  });

  it("gives it no configuration of the user's", () => {
    vi.stubEnv("RIPGREP_CONFIG_PATH", "/tmp/config");
    expect(ripgrepEnvironment()).not.toHaveProperty("RIPGREP_CONFIG_PATH");
    expect(ripgrepEnvironment()).not.toHaveProperty("PATH");
    vi.unstubAllEnvs();
  });
});
