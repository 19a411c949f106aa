import type { Repository, RunOptions } from "../open/repository.ts";
import { isOwn, isTrue, lastValue } from "../run/config.ts";
import { variables } from "../run/environment.ts";

/**
 * Whether commits are signed: as requested by the call, else by the user's configuration (commit.gpgSign),
 * never by the repository's. Signing needs the user's key agent.
 *
 * @param further configuration and environment of the command, for its hooks
 * @returns the option of the command, and how it runs
 */
export async function signing(
  repository: Repository,
  wanted?: boolean,
  { config: configured = [], env = {} }: Pick<RunOptions, "config" | "env"> = {},
): Promise<{ option: string; options: RunOptions }> {
  const { config } = await repository.prepared();
  const sign = wanted ?? isTrue(lastValue(config, "commit.gpgsign", isOwn));
  if (!sign) return { option: "--no-gpg-sign", options: { config: configured, env } };
  const agent = variables(repository.machine.env, ["GNUPGHOME", "GPG_AGENT_INFO", "SSH_AUTH_SOCK"]);
  const options: RunOptions = {
    config: [...configured, ["commit.gpgSign", "true"]],
    env: { ...env, ...agent },
  };
  return { option: "--gpg-sign", options };
}
