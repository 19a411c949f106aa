// The generated parts of docs/migration.md: for each server, the official entry and ours that replaces it.
import { factsOf, keptText, officialPart } from "./compatibility.mjs";
import { launchOf } from "./launch.mjs";
import { fenced } from "./markdown.mjs";

/** How the entries of the official servers end. @type {Record<string, string[]>} */
const OFFICIAL_ARGUMENTS = {
  filesystem: ["/path/to/your/project"],
  git: ["--repository", "/path/to/your/project"],
  postgres: ["postgresql://reader:password@localhost/shop"],
  sqlite: ["--db-path", "/path/to/your/file"],
};

/**
 * @param {import("./surface.mjs").Server[]} servers
 * @param {import("./surface.mjs").State} state
 * @returns {Promise<Record<string, string>>} name of the part → text
 */
export async function migrationParts(servers, state) {
  /** @type {Record<string, string>} */
  const parts = {};
  for (const server of servers) {
    const facts = await factsOf(server);
    if (facts === undefined) continue;
    const { name, registry } = facts;
    const before = [
      ...(registry === "npm" ? ["npx", "-y"] : ["uvx"]),
      name,
      ...(OFFICIAL_ARGUMENTS[server.name] ?? []),
    ];
    const launch = launchOf(server, state);
    const { command, args } = launch.command ?? {
      command: "npx",
      args: ["-y", launch.packageName],
    };
    const change = [entryLine("-", before), entryLine("+", [command, ...args, ...launch.args])];
    if (launch.env.length > 0)
      change.push(`+ "env": { ${launch.env.map((one) => `"${one.name}": "…"`).join(", ")} }`);
    parts[server.name] = [
      fenced("diff", change.join("\n")),
      (await officialPart(server)).replace(
        "(#against",
        `(../servers/${server.name}/README.md#against`,
      ),
      ...[await keptText(server)].filter((text) => text !== ""),
    ].join("\n\n");
  }
  return parts;
}

/** @param {"+" | "-"} sign @param {string[]} entry */
function entryLine(sign, [command, ...args]) {
  return `${sign} "command": "${command}", "args": ${JSON.stringify(args).replaceAll(",", ", ")}`;
}
