// `pnpm generate`: writes what a program can know into the pages, between `<!-- generated:NAME -->` and
// `<!-- /generated -->`. With `--check` it writes nothing and fails where a page is not current.
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { command } from "./lib/bench-kit.mjs";
import { build, install, ROOT } from "./lib/setup.mjs";

await install();
const check = process.argv.includes("--check");
const stale = [];
for (const name of (await readdir(join(ROOT, "servers"))).sort()) {
  for (const room of ["tools", "resources", "prompts"])
    await indexRoom(join(ROOT, "servers", name, "src", room), room);
}
await build();

const servers = [];
for (const name of (await readdir(join(ROOT, "servers"))).sort()) {
  const bin = join(ROOT, "servers", name, "dist", "bin.js");
  servers.push(JSON.parse(await command(process.execPath, [bin, "--describe"])));
}

for (const server of servers) {
  await fill(join(ROOT, "servers", server.name, "README.md"), {
    install: installText(server),
    options: server.optionTable,
    tools: toolTable(server),
    resources: resourceTable(server),
    prompts: promptTable(server),
  });
}
await fill(join(ROOT, "README.md"), { servers: serverTable(servers) });

if (check && stale.length > 0) {
  process.stderr.write(`Not current: ${stale.join(", ")}. Run: npx -y pnpm@10.34.9 generate\n`);
  process.exit(1);
}

/** Writes `index.ts` of a room: the list of its definitions, one file each, in the order of their names. */
async function indexRoom(folder, room) {
  if (!existsSync(folder)) return;
  const files = (await readdir(folder))
    .filter((file) => /^[a-z0-9-]+\.ts$/.test(file) && file !== "index.ts")
    .map((file) => file.slice(0, -".ts".length))
    .sort();
  const names = files.map((file) => file.replace(/-([a-z0-9])/g, (_, letter) => letter.toUpperCase()));
  const imports = files.map((file, index) => `import ${names[index]} from "./${file}.ts";`);
  const oneLine = `export const ${room} = [${names.join(", ")}];`;
  const list =
    oneLine.length <= 110
      ? oneLine
      : `export const ${room} = [\n${names.map((name) => `  ${name},\n`).join("")}];`;
  await put(join(folder, "index.ts"), `// Written by \`pnpm generate\`.\n${imports.join("\n")}\n\n${list}\n`);
}

/** Replaces the marked parts of a page. A part without a text, or a page without its mark, is a mistake. */
async function fill(page, parts) {
  if (!existsSync(page)) return;
  const before = await readFile(page, "utf8");
  const after = before.replace(
    /(<!-- generated:(\w+) -->\n)[\s\S]*?(<!-- \/generated -->)/g,
    (_, start, name, end) => {
      if (parts[name] === undefined) throw new Error(`${page}: nothing is generated for ${name}`);
      return `${start}\n${parts[name].trim()}\n\n${end}`;
    },
  );
  await put(page, after);
}

/** Writes a file, or notes that it is not current. */
async function put(file, text) {
  if ((await readFile(file, "utf8").catch(() => undefined)) === text) return;
  stale.push(file.slice(ROOT.length));
  if (!check) await writeFile(file, text);
}

function installText(server) {
  const args = server.options.some((option) => option.positional) ? ["/path/to/your/project"] : [];
  const entry = {
    mcpServers: { [server.name]: { command: "npx", args: ["-y", server.packageName, ...args] } },
  };
  const claude = [
    "claude",
    "mcp",
    "add",
    "-s",
    "project",
    server.name,
    "--",
    "npx",
    "-y",
    server.packageName,
    ...args,
  ];
  return [
    "Claude Desktop, Cursor, Windsurf and others take this entry:",
    `\`\`\`json\n${JSON.stringify(entry, undefined, 2)}\n\`\`\``,
    "Claude Code:",
    `\`\`\`sh\n${claude.join(" ")}\n\`\`\``,
    `For VS Code, Codex, Gemini CLI and Zed: \`npx -y ${server.packageName} --print-config vscode\` (or \`codex\`, \`gemini\`, \`zed\`) prints the text to paste and says where it goes.`,
  ].join("\n\n");
}

function toolTable({ tools }) {
  const rows = tools.map((tool) => {
    const notes = [
      tool.toolset === undefined ? "" : `set ${tool.toolset}`,
      tool.needs === undefined ? "" : `with \`--${kebab(tool.needs)}\``,
      tool.aliases.length === 0 ? "" : `also as \`${tool.aliases.join("`, `")}\``,
    ].filter(Boolean);
    const properties = Object.keys(tool.inputSchema.properties ?? {});
    const required = tool.inputSchema.required ?? [];
    const shown = properties.map((name) => (required.includes(name) ? `**${name}**` : name));
    return [
      `\`${tool.name}\``,
      tool.effect,
      firstSentence(tool.description) + (notes.length > 0 ? ` (${notes.join("; ")})` : ""),
      shown.join(", "),
    ];
  });
  return table(["Tool", "Effect", "What it does", "Arguments (**required**)"], rows);
}

function resourceTable({ resources }) {
  const rows = resources.map((one) => [`\`${one.uri}\``, one.description, one.subscribable ? "yes" : ""]);
  return table(["Resource", "What it is", "Subscribable"], rows);
}

function promptTable({ prompts }) {
  const rows = prompts.map((one) => [
    `\`${one.name}\``,
    one.description,
    one.arguments.map(({ name, required }) => (required ? `**${name}**` : name)).join(", "),
  ]);
  return table(["Prompt", "What it asks for", "Arguments (**required**)"], rows);
}

function serverTable(all) {
  const rows = all.map((server) => {
    const tools = server.tools.filter(
      (tool) =>
        tool.needs === undefined &&
        (tool.toolset === undefined || server.toolsets[tool.toolset]?.default === true),
    );
    const listed = tools.map(({ effect, toolset, needs, aliases, ...tool }) => tool);
    const cost = Math.ceil(JSON.stringify(listed).length / 4);
    return [
      `[${server.name}](servers/${server.name}/README.md)`,
      server.description,
      String(tools.length),
      `${(cost / 1000).toFixed(1)}k`,
    ];
  });
  return table(["Server", "What it is for", "Tools", "Tokens"], rows);
}

function table(columns, rows) {
  const cell = (text) => text.replaceAll("|", "\\|").replaceAll("\n", " ");
  return [columns, columns.map(() => "---"), ...rows]
    .map((row) => `| ${row.map(cell).join(" | ")} |`)
    .join("\n");
}

function firstSentence(text) {
  return /^.*?\.(?=\s|$)/s.exec(text)?.[0] ?? text;
}

function kebab(key) {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
