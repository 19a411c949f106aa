import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { aptInstall } from "../../../scripts/lib/apt.mjs";

let said: string[];
const say = (line: string): void => {
  said.push(line);
};
beforeEach(() => {
  said = [];
});

describe("aptInstall", () => {
  /** A program in place of apt-get that writes down how it is called and prints what apt prints. */
  async function apt(script: string): Promise<{ path: string; calls(): Promise<string[]> }> {
    const folder = await mkdtemp(join(tmpdir(), "refmcp-apt-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, "apt-get");
    const log = join(folder, "log");
    await writeFile(path, `#!/bin/sh\necho "$@" >> '${log}'\n${script}\n`);
    await chmod(path, 0o755);
    const lines = async () => (await readFile(log, "utf8").catch(() => "")).split("\n");
    return {
      path,
      calls: async () =>
        (await lines())
          .filter((line) => line !== "")
          .map((line) => line.replace(/^.*Timeout=300 /, "")),
    };
  }
  const SIMULATION = `case "$*" in *--assume-no*)
    echo 'Need to get 208 kB/311 kB of archives.'
    echo 'After this operation, 725 kB of additional disk space will be used.'
    echo Abort.; exit 1;; esac`;
  const INSTALL = "install -y --no-install-recommends pgbouncer";

  it("announces the exact command and its size before installing", async () => {
    const { path, calls } = await apt(SIMULATION);
    expect(
      await aptInstall(["pgbouncer"], { say, apt: path, isRoot: true, env: {} }),
    ).toBeUndefined();
    expect(said).toEqual([
      `Installing system packages, as root: apt-get ${INSTALL} (208 kB/311 kB to download, 725 kB on disk; --no-system-packages refuses this)`,
    ]);
    expect(await calls()).toEqual([
      "install --assume-no --no-install-recommends pgbouncer",
      INSTALL,
    ]);
  });

  it("does nothing if the user refuses it", async () => {
    const { path, calls } = await apt(SIMULATION);
    const env = { REFMCP_NO_SYSTEM_PACKAGES: "1", CI: "true" };
    expect(await aptInstall(["pgbouncer"], { say, apt: path, isRoot: true, env })).toContain(
      "--no-system-packages was given",
    );
    expect([said, await calls()]).toEqual([[], []]);
  });
});
