// What a server shows a model, and what that costs.

/** The tools that are offered without any option. */
export function defaultTools({ tools, toolsets }) {
  return tools.filter(
    ({ needs, toolset }) =>
      needs === undefined && (toolset === undefined || toolsets[toolset]?.default === true),
  );
}

/** About how many tokens these tools cost in `tools/list`: four characters each, the rule of thumb for JSON. */
export function tokensOf(tools) {
  const listed = tools.map(({ effect, toolset, needs, aliases, ...tool }) => tool);
  return Math.ceil(JSON.stringify(listed).length / 4);
}

/** 5123 → 5.1k */
export function thousands(tokens) {
  return `${(tokens / 1000).toFixed(1)}k`;
}
