import { listedTools } from "../bind/server.ts";
import { commonOptions } from "../define/common-options.ts";
import { serverIconSvg } from "../define/icon.ts";
import type { OptionTable } from "../define/options.ts";
import type { Outline } from "../define/server.ts";
import { renderOptionTable } from "./help.ts";
import { defaultText, isRepeatable, optionEntries } from "./options.ts";

/**
 * Everything that a server can offer, as plain JSON, whatever its options: the source of READMEs, `server.json` and
 * `manifest.json`.
 *
 * @param table the server's options, including the common ones
 */
export function describeServer(server: Outline, table: OptionTable) {
  const { name, packageName, title, version, description, instructions, slim } = server;
  const own = Object.entries(table).filter(([key]) => !Object.hasOwn(commonOptions, key));
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
    optionTable: renderOptionTable(name, Object.fromEntries(own)),
    commonOptionTable: renderOptionTable("name", commonOptions),
    options: optionEntries(name, table)
      .filter(({ option }) => option.hidden !== true)
      .map(({ option, ...entry }) => ({
        ...option,
        ...entry,
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
