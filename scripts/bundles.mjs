// `pnpm bundles [NAME…]`: an MCP bundle (.mcpb) of each server, or of the named ones, in dist-bundles/, made by the
// official packer. Hosts such as Claude Desktop install it with a double click.
import { stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { build, install, ROOT, serverNames, step } from "./lib/setup.mjs";
import { makeBundle } from "./release/bundle.mjs";

const wanted = process.argv.slice(2);
await install();
await build();
for (const name of wanted.length > 0 ? wanted : serverNames()) {
  await step(`Bundling ${name}`, async () => {
    const bundle = await makeBundle(name, join(ROOT, "dist-bundles"));
    const megabytes = ((await stat(bundle)).size / 1e6).toFixed(1);
    process.stdout.write(`${relative(process.cwd(), bundle)} (${megabytes} MB)\n`);
    return 0;
  });
}
