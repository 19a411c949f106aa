import { type OptionEntry, variablePrefix } from "./option-table.ts";
import { shown } from "./option-values.ts";
import { suggestion } from "./suggestion.ts";

/** The sentence for an argument that looks like an option and is none. Its value is left out: it may be a secret. */
export function unknownOption(written: string, entries: readonly OptionEntry[]): string {
  const visible = entries.filter((entry) => entry.option.hidden !== true);
  const [name = written] = written.split("=", 1);
  if (!name.startsWith("--")) {
    const meant = visible.find((entry) => name === `-${entry.flag}`);
    if (meant !== undefined) return `Unknown option ${name}. Did you mean --${meant.flag}?`;
    return `Unknown option ${quiet(name.slice(0, 2))}. Options begin with two dashes; see --help.`;
  }
  const word = name.slice(2);
  if (word.startsWith("no-")) {
    const entry = entries.find(({ flag }) => flag === word.slice(3));
    if (entry?.option.type === "flag") return `Option ${name} takes no value.`;
    if (entry !== undefined)
      return `Unknown option ${name}: only flags can be turned off, and --${entry.flag} takes a value.`;
  }
  const flags = visible.map((entry) => entry.flag);
  const negations = visible
    .filter((entry) => entry.option.type === "flag")
    .map((entry) => `no-${entry.flag}`);
  const near = suggestion(word, word.startsWith("no-") ? negations : flags, "--");
  return `Unknown option ${quiet(name)}.${near === "" ? " See --help for all options." : near}`;
}

/** The sentence for an argument without a flag where the server takes none. */
export function unexpectedArgument(
  text: string,
  last: OptionEntry | undefined,
  entries: readonly OptionEntry[],
): string {
  if (last?.option.type === "secret") {
    return `Unexpected argument after --${last.flag}, not shown because it may belong to the secret. Quote a value that has spaces.`;
  }
  const flag = entries.find((entry) => entry.flag === text)?.flag;
  const advice =
    flag === undefined ? "This server takes options only; see --help." : `Did you mean --${flag}?`;
  return `Unexpected argument ${shown(text)}. ${advice}`;
}

/**
 * Sentences for the variables that have the server's prefix and belong to no option: most likely they are
 * misspelt, and an option that silently has no effect may be one for safety.
 */
export function strangeVariables(
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
      return `Environment variable ${quiet(name)} belongs to no option and is ignored.${near}`;
    });
}

/**
 * The sentence for names in a list option that the server does not have, for example tools in `--tools`; undefined
 * where it has them all.
 *
 * @param option the flag with its dashes
 * @param see what lists the known names, for example `--list-tools`
 */
export function unknownNames(
  option: string,
  noun: string,
  given: readonly string[],
  known: readonly string[],
  see: string,
): string | undefined {
  const unknown = given.filter((name) => !known.includes(name));
  if (unknown.length === 0) return undefined;
  const sentences = unknown.map(
    (name) => `Unknown ${noun} ${shown(name)} in ${option}.${suggestion(name, known)}`,
  );
  return `${sentences.join(" ")} ${see} lists all.`;
}

/** A name as a sentence shows it: control characters escaped, cut. */
function quiet(name: string): string {
  return shown(name).slice(1, -1);
}
