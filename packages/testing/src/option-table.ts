import type { OptionTable } from "@refmcp/core";
import { BadValue, type Option, optionEntries, readValue } from "@refmcp/core/run";

/**
 * Checks what types cannot: well-formed, unique names, valid defaults, at most one positional option, one-line
 * descriptions.
 *
 * @throws {TypeError} with all problems, for the author of the table.
 */
export function checkOptionTable(server: string, table: OptionTable): void {
  const problems: string[] = [];
  const owners = new Map<string, string>();
  for (const { key, option, flag, variables } of optionEntries(server, table)) {
    const say = (problem: string) => problems.push(`${key}: ${problem}`);
    const claim = (name: string) => {
      const owner = owners.get(name);
      if (owner !== undefined) say(`${name} is taken by ${owner}`);
      owners.set(name, key);
    };
    if (!/^[a-z][a-zA-Z0-9]*$/.test(key)) say("the key is not camelCase");
    if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(flag)) say(`the flag "${flag}" is not kebab-case`);
    if (flag.startsWith("no-")) say(`the flag "${flag}" begins with "no-", which turns flags off`);
    claim(`the flag --${flag}`);
    for (const variable of variables) {
      if (!/^[A-Z][A-Z0-9_]*$/.test(variable))
        say(`"${variable}" is not a valid environment variable name`);
      claim(`the variable ${variable}`);
    }
    if (option.positional === true) claim("the positional argument");
    if (option.ask === true && option.form === undefined)
      say("an option that is asked for needs the words of a form");
    if (!/^\S.*\.$/.test(option.description)) say("the description is not a sentence on one line");
    if (option.type === "enum" && option.values.length === 0) say("an enum needs values");
    for (const value of [option.default ?? []].flat()) {
      const problem = problemOf(option, String(value));
      if (problem !== undefined) say(`the default is "${value}"; it ${problem}`);
    }
  }
  if (problems.length > 0)
    throw new TypeError(`Option table of ${server}: ${problems.join("; ")}.`);
}

function problemOf(option: Option, text: string): string | undefined {
  try {
    readValue(option, text, { cwd: "/", home: "/", platform: "linux" });
    return undefined;
  } catch (error) {
    if (error instanceof BadValue) return error.message;
    throw error;
  }
}
