import { listedPrompt, listedTools, resourceOutline } from "../bind/listing.ts";
import { entryOf, loadSkills } from "../bind/skills.ts";
import { commonOptions } from "../define/common-options.ts";
import { serverIconSvg } from "../define/icon.ts";
import type { OptionTable } from "../define/options.ts";
import type { Servable } from "../define/server.ts";
import { renderOptionTable } from "./help.ts";
import { defaultText, isRepeatable, optionEntries } from "./options.ts";

/**
 * Everything that a server can offer, as plain JSON, whatever its options: the source of READMEs, `server.json` and
 * `manifest.json`.
 *
 * @param table the server's options, including the common ones
 */
export async function describeServer<Context, Table extends OptionTable>(
  definition: Servable<Context, Table>,
  table: OptionTable,
) {
  const {
    name,
    packageName,
    title,
    version,
    description,
    instructions,
    toolsets = {},
    slim,
  } = definition;
  const skills = await loadSkills(definition.skills ?? []);
  const own = Object.fromEntries(
    Object.entries(table).filter(([key]) => !Object.hasOwn(commonOptions, key)),
  );
  const facts = new Map([...definition.tools].map((tool) => [tool.name, tool]));
  return {
    name,
    packageName,
    title,
    version,
    description,
    instructions,
    toolsets,
    slim,
    icon: serverIconSvg(definition.icon),
    skills: skills.map((skill) => entryOf(skill).frontmatter),
    optionTable: renderOptionTable(name, own),
    commonOptionTable: renderOptionTable("name", commonOptions),
    options: optionEntries(name, table)
      .filter(({ option }) => option.hidden !== true)
      .map(({ key, option, flag, variables, valueName }) => ({
        key,
        flag,
        form: option.form,
        heading: option.heading,
        variables,
        valueName,
        type: option.type,
        repeatable: isRepeatable(option),
        positional: option.positional === true,
        ask: option.ask === true,
        default: defaultText(option),
        description: option.description,
      })),
    tools: (await listedTools(definition.tools)).map((tool) => {
      const { effect, toolset, needs, aliases = [] } = facts.get(tool.name) ?? {};
      return { ...tool, effect, toolset, needs, aliases };
    }),
    resources: (definition.resources ?? []).map((resource) => {
      const { uri, uriTemplate, name, title, description, watches } = resourceOutline(resource);
      return { uri: uri ?? uriTemplate, name, title, description, subscribable: watches };
    }),
    prompts: (definition.prompts ?? []).map(listedPrompt),
  };
}
