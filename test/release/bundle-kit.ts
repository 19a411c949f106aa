import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  getMcpConfigForManifest,
  MANIFEST_SCHEMAS,
  type McpbUserConfigValues,
} from "@anthropic-ai/mcpb";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

/** The manifest in a folder, checked by the official schema. */
export async function readManifest(folder: string) {
  return MANIFEST_SCHEMAS["0.4"].parse(
    JSON.parse(await readFile(join(folder, "manifest.json"), "utf8")),
  );
}

interface HostOptions {
  /** The user's input in the form. */
  readonly form: McpbUserConfigValues;
  /** The PATH for the manifest's command. */
  readonly path: string;
  /** The user's home and the working directory. */
  readonly home: string;
}

/** Starts an unpacked bundle as a host does: with the manifest's own command, arguments and environment. */
export async function startBundle(
  bundle: string,
  { form, path, home }: HostOptions,
): Promise<Client> {
  const config = await getMcpConfigForManifest({
    manifest: await readManifest(bundle),
    extensionPath: bundle,
    systemDirs: {},
    userConfig: form,
    pathSeparator: "/",
  });
  if (config === undefined) throw new Error("a required field of the form is empty");
  if (JSON.stringify(config).includes("${")) throw new Error("a placeholder has no value");
  const client = new Client({ name: "bundle", version: "1" });
  await client.connect(
    new StdioClientTransport({
      command: config.command,
      args: config.args ?? [],
      env: { PATH: path, HOME: home, ...config.env },
      cwd: home,
    }),
  );
  return client;
}

/** Calls a tool; its first text, and whether it is an error. */
export async function callText(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { isError = false, content } = await client.callTool({ name, arguments: args });
  const [first] = content;
  return { isError, text: first?.type === "text" ? first.text : "" };
}
