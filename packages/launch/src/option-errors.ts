import { nearest } from "@refmcp/boundary/answer";
import { type OptionEntry, variablePrefix } from "./option-table.ts";

/** A value for an error message: quoted, escaped, truncated, and without the password of a URL. */
export function shown(text: string): string {
  const harmless = text.replace(/\/\/\S*@/g, "//…@").replace(/[^\s/]*:[^\s/]*@/g, "…@");
  return JSON.stringify(harmless.length > 200 ? `${harmless.slice(0, 200)}…` : harmless);
}

/** A name for a message: escaped and truncated. */
function printable(name: string): string {
  return shown(name).slice(1, -1);
}

/**
 * ` Did you mean --read-only?`, or "" if nothing is similar. Up to three names that begin with the word are preferred.
 *
 * @param prefix put before each name
 */
export function suggestion(word: string, candidates: readonly string[], prefix = ""): string {
  const longer = word.length > 2 ? candidates.filter((candidate) => candidate.startsWith(word)) : [];
  const near = longer.length > 0 && longer.length <= 3 ? longer : nearest(word, candidates, 1);
  const last = near.at(-1);
  if (last === undefined) return "";
  const before = near.slice(0, -1).map((name) => prefix + name);
  return ` Did you mean ${before.join(", ")}${before.length > 0 ? " or " : ""}${prefix}${last}?`;
}

/** The message for an argument that looks like an option but is not one. Its value may be a secret and is not shown. */
export function unknownOption(written: string, entries: readonly OptionEntry[]): string {
  const visible = entries.filter((entry) => entry.option.hidden !== true);
  const name = written.replace(/=.*/s, "");
  if (!name.startsWith("--")) {
    const meant = visible.find((entry) => name === `-${entry.flag}`);
    if (meant !== undefined) return `Unknown option ${name}. Did you mean --${meant.flag}?`;
    return `Unknown option ${printable(name.slice(0, 2))}. Options begin with two dashes; see --help.`;
  }
  const word = name.slice(2);
  const turnedOff = entries.find(({ flag }) => `no-${flag}` === word);
  if (turnedOff?.option.type === "flag") return `Option ${name} takes no value.`;
  if (turnedOff !== undefined)
    return `Unknown option ${name}: only flags can be turned off, and --${turnedOff.flag} takes a value.`;
  const near = word.startsWith("no-")
    ? visible.filter(({ option }) => option.type === "flag").map(({ flag }) => `no-${flag}`)
    : visible.map(({ flag }) => flag);
  return `Unknown option ${printable(name)}.${suggestion(word, near, "--") || " See --help for all options."}`;
}

/** The message for an argument without a flag, if the server takes none. */
export function unexpectedArgument(
  text: string,
  last: OptionEntry | undefined,
  entries: readonly OptionEntry[],
): string {
  if (last?.option.type === "secret")
    return `Unexpected argument after --${last.flag}, not shown because it may be part of the secret. Quote values that contain spaces.`;
  const meant = entries.some(({ flag }) => flag === text);
  return `Unexpected argument ${shown(text)}. ${meant ? `Did you mean --${text}?` : "This server takes options only; see --help."}`;
}

/**
 * Warnings about variables that have the server's prefix but match no option. They are probably misspelled, and a
 * safety option that silently has no effect would be dangerous.
 */
export function unknownVariables(
  server: string,
  entries: readonly OptionEntry[],
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const prefix = variablePrefix(server);
  const known = entries.flatMap((entry) => entry.variables);
  const words = known.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && !known.includes(name))
    .sort()
    .map((name) => {
      const near = suggestion(name.slice(prefix.length), words, prefix);
      return `Environment variable ${printable(name)} matches no option and is ignored.${near}`;
    });
}

/**
 * The message for unknown names in a list option, for example tools in `--tools`; undefined if all are known.
 *
 * @param option the flag with its dashes
 * @param see the option or command that lists the known names, for example `--list-tools`
 */
export function unknownNames(
  option: string,
  noun: string,
  given: readonly string[],
  known: readonly string[],
  see: string,
): string | undefined {
  const sentences = given
    .filter((name) => !known.includes(name))
    .map((name) => `Unknown ${noun} ${shown(name)} in ${option}.${suggestion(name, known)}`);
  return sentences.length === 0 ? undefined : `${sentences.join(" ")} For all of them, see ${see}.`;
}
