// Run before a package is packed. npm would leave `catalog:` and `workspace:` in its manifest, which nobody could install.
import { readFileSync } from "node:fs";
import { basename } from "node:path";

// npm keeps the user agent that it inherits, but sets its own path.
if (!basename(process.env.npm_execpath ?? "").startsWith("pnpm")) {
  const { name } = JSON.parse(readFileSync("package.json", "utf8"));
  process.stderr.write(
    `${name} is packed with pnpm, which resolves the versions that "catalog:" and "workspace:" refer to. Run npx pnpm pack, or make a release as CONTRIBUTING.md describes.\n`,
  );
  process.exitCode = 1;
}
