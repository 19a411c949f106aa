import { listedTools } from "../bind/server.ts";
import { serverIconSvg } from "../define/icon.ts";
import type { OptionTable } from "../define/options.ts";
import type { Outline } from "../define/server.ts";
import { label, takes } from "./help.ts";
import { defaultText, isRepeatable, optionEntries } from "./options.ts";

/**
 * Everything that a server can offer, as plain JSON, with all options: the source of READMEs, `server.json` and
 * `manifest.json`.
 *
 * @param table the server's options, including the common ones
 */
export function describeServer(server: Outline, table: OptionTable) {
  const { name, packageName, title, version, description, instructions, slim } = server;
  return {
    name,
    packageName,
    title,
    version,
    description,
    instructions,
    toolsets: server.toolsets ?? {},
    slim,
    icon: serverIconSvg(server.icon),
    options: optionEntries(name, table)
      .filter(({ option }) => option.hidden !== true)
      .map(({ option, ...entry }) => ({
        ...option,
        ...entry,
        label: label({ option, ...entry }),
        takes: takes(option),
        repeatable: isRepeatable(option),
        positional: option.positional === true,
        ask: option.ask === true,
        default: defaultText(option),
      })),
    tools: server.tools.map((tool) => {
      const { effect, toolset, needs, aliases = [] } = tool;
      return { ...listedTools([tool])[0], name: tool.name, effect, toolset, needs, aliases };
    }),
    resources: server.resources.map(({ uri, uriTemplate, watches, ...resource }) => {
      const { name, title, description } = resource;
      return { uri: uri ?? uriTemplate, name, title, description, subscribable: watches };
    }),
    prompts: server.prompts,
  };
}
