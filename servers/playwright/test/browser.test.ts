import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { aptInstall } from "../../../scripts/lib/apt.mjs";
import { folderOf } from "./session.ts";

it("a system package is announced before it is installed, and not installed if refused", async () => {
  const folder = await folderOf("apt");
  const [apt, log] = [join(folder, "apt-get"), join(folder, "log")];
  const simulation =
    "case \"$*\" in *--assume-no*) echo 'Need to get 208 kB/311 kB of archives.'; exit 1;; esac";
  await writeFile(apt, `#!/bin/sh\necho "$@" >> '${log}'\n${simulation}\n`);
  await chmod(apt, 0o755);
  const said: string[] = [];
  const parts = { say: (line: string) => void said.push(line), apt, isRoot: true };
  const refused = { REFMCP_NO_SYSTEM_PACKAGES: "1", CI: "true" };
  expect(await aptInstall(["pgbouncer"], { ...parts, env: refused })).toContain(
    "--no-system-packages",
  );
  await expect(readFile(log)).rejects.toThrow();
  expect(await aptInstall(["pgbouncer"], { ...parts, env: {} })).toBeUndefined();
  const command = "install -y --no-install-recommends pgbouncer";
  expect(said).toEqual([expect.stringContaining(`apt-get ${command} (208 kB/311 kB to download`)]);
  expect((await readFile(log, "utf8")).trim().split("\n").at(-1)).toContain(command);
});
