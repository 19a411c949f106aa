// What a server shows a model, and what that costs.

/** The tools that are offered without any option. */
export function defaultTools({ tools, toolsets }) {
  return tools.filter(
    ({ needs, toolset }) =>
      needs === undefined && (toolset === undefined || toolsets[toolset]?.default === true),
  );
}

/** The tools that `--slim` leaves. */
export function slimTools(server) {
  const { slim } = server;
  return slim === undefined
    ? defaultTools(server)
    : server.tools.filter(({ name, needs }) => needs === undefined && slim.includes(name));
}

/** About how many tokens these tools take in `tools/list`: four characters each, the rule of thumb for JSON. */
export function tokensOf(tools) {
  const listed = tools.map(({ effect, toolset, needs, aliases, icons, ...tool }) => tool);
  return Math.ceil(JSON.stringify(listed).length / 4);
}

/** About how many of them a model reads: hosts pass on the name, the description and the input schema only. */
export function modelTokensOf(tools) {
  return tokensOf(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })));
}

/** 5123 → 5.1k */
export function thousands(tokens) {
  return `${(tokens / 1000).toFixed(1)}k`;
}
