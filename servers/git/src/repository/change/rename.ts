import { oneLine, ToolError } from "@refmcp/core/answer";
import type { Git } from "../open/git.ts";
import type { Repository } from "../open/repository.ts";
import { badName, checkRefText } from "../read/branches.ts";
import { withoutPassword } from "../read/refs.ts";
import { parseRemote } from "../remote/remote-address.ts";
import { lastValue } from "../run/config.ts";
import { badRevision, failureOf } from "../run/failures.ts";
import { refuseExisting } from "./switch.ts";

/** Renames a local branch, with its configuration and reflog. */
export async function renameBranch(
  repository: Repository,
  query: { branch_name: string; new_name: string },
): Promise<{ branch: string; before: string; commit: string }> {
  const { branch_name: branch, new_name: name } = query;
  checkRefText("heads", name);
  if (branch.startsWith("-") || /[\0\n\r]|@\{/.test(branch)) throw badRevision(branch);
  const [existing, taken] = await repository.lookUp([`refs/heads/${branch}`, `refs/heads/${name}`]);
  if (existing === undefined) throw badRevision(branch);
  refuseExisting(taken, "branch", name);
  const result = await repository.run(["branch", "--move", "--", branch, name]);
  if (/is not a valid branch name/.test(result.stderr)) throw badName("heads", name);
  if (result.code !== 0) throw failureOf(result, "rename the branch");
  return { branch: name, before: branch, commit: existing.oid };
}

/**
 * Adds a remote, or gives an existing one another URL. The URL must be allowed by `--protocols`; nothing is
 * contacted.
 */
export async function setRemote(
  git: Git,
  repository: Repository,
  query: { remote: string; url: string },
): Promise<{ remote: string; url: string; before: string | undefined }> {
  const { remote, url } = query;
  if (!/^[\p{L}\p{N}][\p{L}\p{N}._/-]*$/u.test(remote) || /\.\.|\/\/|\/$|\.lock$/.test(remote)) {
    throw new ToolError("invalid", `"${oneLine(remote.slice(0, 100))}" is not a valid remote name.`, {
      code: "bad_name",
      hint: "For example: origin or upstream.",
    });
  }
  parseRemote(url, git.options);
  const { config } = await repository.prepared();
  const before = lastValue(config, `remote.${remote}.url`);
  const command = before === undefined ? ["add"] : ["set-url"];
  await repository.output(["remote", ...command, "--", remote, url], "set the remote");
  return { remote, url: withoutPassword(url), before: before && withoutPassword(before) };
}
