// `pnpm surface`: what each server's tools cost a model in `tools/list`, the most expensive first.
import { defaultTools, describedServer, modelTokensOf } from "./generate/surface.mjs";
import { build, install, serverNames } from "./lib/setup.mjs";

await install();
await build();
let all = 0;
for (const name of serverNames()) {
  const server = await describedServer(name);
  const offered = defaultTools(server);
  all += modelTokensOf(offered);
  process.stdout.write(
    `\n${name}: ${offered.length} tools by default, ${modelTokensOf(offered)} tokens for a model (at most 4,000)\n`,
  );
  const costs = server.tools
    .map((tool) => ({ tool, cost: modelTokensOf([tool]) }))
    .sort((a, b) => b.cost - a.cost);
  for (const { tool, cost } of costs) {
    process.stdout.write(
      `  ${String(cost).padStart(5)}  ${tool.name}${offered.some(({ name: listed }) => listed === tool.name) ? "" : " (not by default)"}\n`,
    );
  }
}
process.stdout.write(`\nAll default sets together: ${all} tokens\n`);
