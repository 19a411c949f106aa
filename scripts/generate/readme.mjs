// The generated parts of the READMEs: how to install a server, and what it offers.
import { hostEntries, installLinks } from "./launch.mjs";
import { code, fenced, firstSentence, kebab, table } from "./markdown.mjs";
import { defaultTools, thousands, tokensOf } from "./surface.mjs";

/** The parts of one server's README, by name. */
export async function readmeParts(server) {
  return {
    install: await installPart(server),
    options: server.optionTable,
    tools: toolsPart(server),
    resources: resourcesPart(server),
    prompts: promptsPart(server),
  };
}

/** The root README's table of all servers, and what they cost together. */
export async function serversPart(servers) {
  const rows = [];
  let all = 0;
  let tokens = 0;
  for (const server of servers) {
    const tools = defaultTools(server);
    const { vscode, cursor } = await installLinks(server);
    all += tools.length;
    tokens += tokensOf(tools);
    rows.push([
      `[${server.name}](servers/${server.name}/README.md)`,
      server.description,
      String(tools.length),
      thousands(tokensOf(tools)),
      `[VS Code](${vscode}) [Cursor](${cursor})`,
    ]);
  }
  rows.push(["all", "", String(all), thousands(tokens), ""]);
  return table(["Server", "What it is for", "Tools", "Tokens", "Install"], rows);
}

async function installPart(server) {
  const { vscode, cursor } = await installLinks(server);
  const entries = await hostEntries(server);
  const [first] = entries;
  const same = entries.filter(({ text }) => text === first.text);
  const others = entries.filter(({ text }) => text !== first.text);
  const commands = entries.filter(({ shellCommand }) => shellCommand !== undefined);
  return [
    `[Install in VS Code](${vscode}) · [Install in Cursor](${cursor})`,
    `${listed(same.map(({ title }) => title))} take this entry:`,
    fenced(first.format, first.text),
    "Or from a shell:",
    fenced("sh", commands.map(({ shellCommand }) => shellCommand).join("\n")),
    `<details><summary>${listed(others.map(({ title }) => title))}</summary>`,
    ...others.flatMap(({ title, format, text }) => [`${title}:`, fenced(format, text)]),
    "</details>",
    `Where it goes, and what Windows wants instead of \`npx\`: [the hosts](../../docs/hosts.md), or \`npx -y ${server.packageName} --print-config HOST\`.`,
  ].join("\n\n");
}

function listed(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

function toolsPart({ tools }) {
  const rows = tools.map((tool) => {
    const notes = [
      tool.toolset === undefined ? "" : `set ${tool.toolset}`,
      tool.needs === undefined ? "" : `with \`--${kebab(tool.needs)}\``,
      tool.aliases.length === 0 ? "" : `also as ${tool.aliases.map(code).join(", ")}`,
    ].filter(Boolean);
    const required = tool.inputSchema.required ?? [];
    const shown = Object.keys(tool.inputSchema.properties ?? {}).map((name) =>
      required.includes(name) ? `**${name}**` : name,
    );
    return [
      code(tool.name),
      tool.effect,
      firstSentence(tool.description) + (notes.length > 0 ? ` (${notes.join("; ")})` : ""),
      shown.join(", "),
    ];
  });
  return table(["Tool", "Effect", "What it does", "Arguments (**required**)"], rows);
}

function resourcesPart({ resources }) {
  const rows = resources.map((one) => [code(one.uri), one.description, one.subscribable ? "yes" : ""]);
  return table(["Resource", "What it is", "Subscribable"], rows);
}

function promptsPart({ prompts }) {
  const rows = prompts.map((one) => [
    code(one.name),
    one.description,
    (one.arguments ?? []).map(({ name, required }) => (required ? `**${name}**` : name)).join(", "),
  ]);
  return table(["Prompt", "What it asks for", "Arguments (**required**)"], rows);
}
