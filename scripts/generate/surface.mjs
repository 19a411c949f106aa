// What a server shows a model, and what that costs.

/** The tools offered without any option. */
export function defaultTools({ tools, toolsets, unlisted }) {
  const offered = tools.filter(
    ({ needs, toolset }) =>
      needs === undefined && (toolset === undefined || toolsets[toolset]?.default === true),
  );
  return offered.map((tool) => without(tool, unlisted));
}

/** The tools offered with `--slim`. */
export function slimTools(server) {
  const { slim, unlisted } = server;
  return slim === undefined
    ? defaultTools(server)
    : server.tools
        .filter(({ name, needs }) => needs === undefined && slim.includes(name))
        .map((tool) => without(tool, unlisted));
}

/** Removes the arguments that are listed only with an option. */
function without(tool, unlisted = []) {
  const properties = Object.entries(tool.inputSchema.properties ?? {});
  const listed = properties.filter(([name]) => !unlisted.includes(name));
  return { ...tool, inputSchema: { ...tool.inputSchema, properties: Object.fromEntries(listed) } };
}

/** Approximate number of tokens of these tools in `tools/list`: four characters each, the rule of thumb for JSON. */
export function tokensOf(tools) {
  const listed = tools.map(({ effect, toolset, needs, aliases, ...tool }) => tool);
  return Math.ceil(JSON.stringify(listed).length / 4);
}

/** Approximate number that a model reads: hosts only pass on name, description and input schema. */
export function modelTokensOf(tools) {
  return tokensOf(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })));
}

/** 5123 → 5.1k */
export function thousands(tokens) {
  return `${(tokens / 1000).toFixed(1)}k`;
}
