import type { Repository, RunOptions } from "../open/repository.ts";
import { isOwn, isTrue, lastValue } from "../run/config.ts";
import { type ConfigPair, variables } from "../run/environment.ts";

/**
 * Whether commits are signed: as requested by the call, else by the user's configuration (commit.gpgSign),
 * never by the repository's. Signing needs the user's key agent.
 *
 * @param configured further configuration of the command
 * @returns the option of the command, and how it runs
 */
export async function signing(
  repository: Repository,
  wanted?: boolean,
  configured: readonly ConfigPair[] = [],
): Promise<{ option: string; options: RunOptions }> {
  const { config } = await repository.prepared();
  const sign = wanted ?? isTrue(lastValue(config, "commit.gpgsign", isOwn));
  if (!sign) return { option: "--no-gpg-sign", options: { config: configured } };
  const env = variables(repository.machine.env, ["GNUPGHOME", "GPG_AGENT_INFO", "SSH_AUTH_SOCK"]);
  return { option: "--gpg-sign", options: { env, config: [...configured, ["commit.gpgSign", "true"]] } };
}
