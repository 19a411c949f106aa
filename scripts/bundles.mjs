// `pnpm bundles`: an MCP bundle (.mcpb) of each server in dist-bundles/, made by the official packer. Hosts such as
// Claude Desktop install it with a double click.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { build, install, ROOT, step } from "./lib/setup.mjs";
import { makeBundle } from "./release/bundle.mjs";

await install();
await build();
for (const name of (await readdir(join(ROOT, "servers"))).sort()) {
  await step(`Bundling ${name}`, async () => {
    await makeBundle(name, join(ROOT, "dist-bundles"));
    return 0;
  });
}
