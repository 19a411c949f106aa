import type { OptionTable } from "@refmcp/core/internal/define/options";
import type { ListedTool } from "@refmcp/core/internal/protocol/wire";
import { optionEntries, type ServerOptions } from "../options.ts";
import { COMMANDS } from "../parse-options.ts";
import { propertiesOf } from "./arguments.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** A completion script for a server's options, commands, tools and their arguments. */
export function completionScript(
  shell: Shell,
  program: string,
  { server, table }: ServerOptions<OptionTable>,
  tools: readonly ListedTool[],
): string {
  const flags = optionEntries(server, table)
    .filter(({ option }) => option.hidden !== true)
    .map(({ flag }) => `--${flag}`);
  const byTool = tools.map((tool) => ({
    name: tool.name,
    title: tool.title ?? tool.name,
    flags: propertiesOf(tool.inputSchema).map(({ name }) => `--${name}`),
    values: propertiesOf(tool.inputSchema).flatMap(({ name, schema }) =>
      Array.isArray(schema.enum) ? [{ flag: `--${name}`, words: schema.enum.map(String) }] : [],
    ),
  }));
  return shell === "fish" ? fish(program, flags, byTool) : bash(program, flags, byTool, shell);
}

interface CompletedTool {
  readonly name: string;
  readonly title: string;
  readonly flags: readonly string[];
  readonly values: readonly { readonly flag: string; readonly words: readonly string[] }[];
}

/** zsh supports bash completions with its bashcompinit. */
function bash(
  program: string,
  flags: readonly string[],
  tools: readonly CompletedTool[],
  shell: Shell,
): string {
  const name = `_${program.replaceAll("-", "_")}`;
  const cases = tools.map(({ name: tool, flags: own, values }) =>
    [
      `    ${tool})`,
      ...values.map(
        ({ flag, words }) => `      [[ $before == ${flag} ]] && words='${words.join(" ")}' ||`,
      ),
      `      words='${[...own, "--args", "--json", "--help"].join(" ")}' ;;`,
    ].join("\n"),
  );
  return `${shell === "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : ""}${name}() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command= tool= words word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ -n $command ]]; then [[ -z $tool ]] && tool=$word
    else case $word in ${COMMANDS.join("|")}) command=$word ;; esac; fi
  done
  case $command in
  '') words='${[...COMMANDS, ...flags].join(" ")}' ;;
  completion) words='${SHELLS.join(" ")}' ;;
  call|tools) case $tool in
    '') words='${tools.map((tool) => tool.name).join(" ")}' ;;
${cases.join("\n")}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F ${name} ${program}
`;
}

function fish(program: string, flags: readonly string[], tools: readonly CompletedTool[]): string {
  const at = (condition: string, rest: string) =>
    `complete -c ${program} -n '${condition}' ${rest}`;
  const none = `not __fish_seen_subcommand_from ${COMMANDS.join(" ")}`;
  const names = tools.map((tool) => tool.name).join(" ");
  return `${[
    at(none, `-a '${COMMANDS.join(" ")}'`),
    ...flags.map((flag) => at(none, `-l ${flag.slice(2)}`)),
    at("__fish_seen_subcommand_from completion", `-fa '${SHELLS.join(" ")}'`),
    ...tools.map(({ name, title }) =>
      at(
        `__fish_seen_subcommand_from call tools; and not __fish_seen_subcommand_from ${names}`,
        `-fa ${name} -d '${title.replace(/['\\]/g, "\\$&")}'`,
      ),
    ),
    ...tools.flatMap(({ name, flags: own, values }) => {
      const inTool = `__fish_seen_subcommand_from call; and __fish_seen_subcommand_from ${name}`;
      return own.map((flag) => {
        const words = values.find((value) => value.flag === flag)?.words;
        return at(
          inTool,
          `-l ${flag.slice(2)}${words === undefined ? "" : ` -xa '${words.join(" ")}'`}`,
        );
      });
    }),
  ].join("\n")}\n`;
}
