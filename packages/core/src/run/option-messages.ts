import { shorten, suggestion } from "@refmcp/boundary/answer";
import { type OptionEntry, variablePrefix } from "./options.ts";

/** A value for an error message: quoted, escaped, truncated, and without the password of a URL. */
export function quoteValue(text: string): string {
  const harmless = text.replace(/\/\/\S*@/g, "//…@").replace(/[^\s/]*:[^\s/]*@/g, "…@");
  return JSON.stringify(shorten(harmless, 201));
}

/** A name for a message: escaped and truncated. */
const printable = (name: string) => quoteValue(name).slice(1, -1);

/** The message for an argument that looks like an option but is not one. What follows its name may be a secret. */
export function unknownOption(name: string, entries: readonly OptionEntry[]): string {
  // The help of refmcp names the options of its servers, --git.hooks, only as a group.
  const flags = entries.flatMap(({ flag, option }) => {
    if (option.hidden === true && !(flag.includes(".") && name.includes("."))) return [];
    return option.type === "flag" ? [flag, `no-${flag}`] : flag;
  });
  const hint = suggestion(name.replace(/^-+/, ""), flags, "--");
  return `Unknown option ${printable(name)}.${hint || " See --help for all options."}`;
}

/** The message for an argument without a flag, if the server takes none. */
export function unexpectedArgument(text: string, last: OptionEntry | undefined): string {
  return last?.option.type === "secret"
    ? `Unexpected argument after --${last.flag}, not shown because it may be part of the secret. Quote values that contain spaces.`
    : `Unexpected argument ${quoteValue(text)}. This server takes options only; see --help.`;
}

/**
 * Warnings about variables that have the server's prefix but match no option. They are probably misspelled, and a
 * safety option that silently has no effect would be dangerous.
 */
export function unknownVariables(
  server: string,
  entries: readonly OptionEntry[],
  env: NodeJS.ProcessEnv,
): string[] {
  const prefix = variablePrefix(server);
  const knownVariables = entries.flatMap((entry) => entry.variables);
  const words = knownVariables
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length));
  const strayVariables = Object.keys(env).filter(
    (name) => name.startsWith(prefix) && !knownVariables.includes(name),
  );
  return strayVariables.sort().map((name) => {
    const hint = suggestion(name.slice(prefix.length), words, prefix);
    return `Environment variable ${printable(name)} matches no option and is ignored.${hint}`;
  });
}

/**
 * The message for unknown names in a list option, for example tools in `--tools`; undefined if all are known.
 *
 * @param option the flag with its dashes
 * @param see the option or command that lists the known names, for example `tools`
 */
export function unknownNames(
  option: string,
  noun: string,
  names: readonly string[],
  known: readonly string[],
  see: string,
): string | undefined {
  const sentences = names
    .filter((name) => !known.includes(name))
    .map((name) => `Unknown ${noun} ${quoteValue(name)} in ${option}.${suggestion(name, known)}`);
  return sentences.length === 0 ? undefined : `${sentences.join(" ")} For all of them, see ${see}.`;
}
