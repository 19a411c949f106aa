import type { AnyServer } from "../define/server.ts";
import type { ToolFacts } from "../define/tool.ts";
import type { Outline } from "./lazy.ts";
import { listedPrompt, resourceOutline } from "./listing.ts";
import { schemasOf } from "./schema.ts";
import { loadSkills } from "./skills.ts";

/** The outline of a server, for its bundle; serializable as JSON. */
export function outlineOf(server: AnyServer): Outline<never> {
  const {
    options: _,
    open: _open,
    ready: _ready,
    close: _close,
    tools,
    moreTools,
    resources = [],
    prompts = [],
    skills,
    views: _views,
    ...facts
  } = server;
  return {
    ...facts,
    ...(moreTools === undefined ? {} : { moreTools: { option: moreTools.option } }),
    ...(skills === undefined ? {} : { skills: loadSkills(skills) }),
    tools: tools.map(({ input, output, run: _run, ...tool }) => ({
      ...(tool satisfies ToolFacts),
      schemas: schemasOf({ input, output }),
    })),
    prompts: prompts.map(listedPrompt),
    resources: resources.map(resourceOutline),
  };
}
