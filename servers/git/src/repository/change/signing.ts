import type { Repository, RunOptions } from "../open/repository.ts";
import { isOwn, isTrue, lastValue } from "../run/config.ts";
import type { ConfigPair } from "../run/environment.ts";

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
  const env: Record<string, string> = {};
  for (const name of ["GNUPGHOME", "GPG_AGENT_INFO", "SSH_AUTH_SOCK"]) {
    const value = repository.machine.env[name];
    if (value !== undefined) env[name] = value;
  }
  return { option: "--gpg-sign", options: { env, config: [...configured, ["commit.gpgSign", "true"]] } };
}
