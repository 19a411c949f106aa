import { listedPrompt } from "../bind/prompt.ts";
import { listedTool } from "../bind/tool.ts";
import type { OptionTable } from "../define/options.ts";
import type { ServerDefinition } from "../define/server.ts";
import { renderOptionTable } from "./help.ts";
import { defaultText, optionEntries } from "./option-table.ts";

/**
 * All that a server offers as plain JSON, whatever options it is started with: the source of READMEs, `server.json`
 * and `manifest.json`.
 *
 * @param table the server's options, the common ones included
 */
export function describeServer<Context, Table extends OptionTable>(
  definition: ServerDefinition<Context, Table>,
  table: OptionTable,
) {
  const { name, packageName, title, version, description, instructions, toolsets = {} } = definition;
  return {
    name,
    packageName,
    title,
    version,
    description,
    instructions,
    toolsets,
    optionTable: renderOptionTable(name, table),
    options: optionEntries(name, table)
      .filter(({ option }) => option.hidden !== true)
      .map(({ key, option, flag, variables, valueName }) => ({
        key,
        flag,
        title: option.title,
        variables,
        valueName,
        type: option.type,
        repeatable: option.list === true || option.named !== undefined,
        positional: option.positional === true,
        ask: option.ask === true,
        default: defaultText(option),
        description: option.description,
      })),
    tools: definition.tools.map((tool) => ({
      ...listedTool(tool),
      effect: tool.effect,
      toolset: tool.toolset,
      needs: tool.needs,
      aliases: tool.aliases ?? [],
    })),
    resources: (definition.resources ?? []).map((resource) => ({
      uri: "uri" in resource ? resource.uri : resource.uriTemplate,
      name: resource.name,
      title: resource.title,
      description: resource.description,
      subscribable: resource.watch !== undefined,
    })),
    prompts: (definition.prompts ?? []).map(listedPrompt),
  };
}
