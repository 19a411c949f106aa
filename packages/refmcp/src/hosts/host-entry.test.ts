import { parse } from "smol-toml";
import { describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { hostEntry, installLink, jsonText, type ServerLaunch } from "./host-entry.ts";
import { HOST_NAMES, type HostName } from "./host-names.ts";
import { placesOn } from "./hosts.ts";

const launch = {
  serverKey: "postgres",
  packageName: "@refmcp/server-postgres",
  args: ["--read-only", '--root=C:\\Users\\me\\a "b" & c'],
  env: [
    { name: "DATABASE_URL", secret: true, description: "The database." },
    { name: "REFMCP_POSTGRES_TIMEOUT_MS", value: "6000" },
  ],
} satisfies ServerLaunch;
const vscodeLink = (to: ServerLaunch) => installLink("vscode", to) ?? "";
const npx = ["-y", "@refmcp/server-postgres", ...launch.args];

const PASTED = "<paste DATABASE_URL here>";

/** The server's part of each host's file, as in the host's documentation, with the secret in the host's form. */
const EXPECTED: Readonly<Record<HostName, (command: string, args: readonly string[]) => object>> = {
  "claude-desktop": (command, args) => inside("mcpServers", command, args, PASTED),
  "claude-code": (command, args) => inside("mcpServers", command, args, "$" + "{DATABASE_URL}"),
  cursor: (command, args) => inside("mcpServers", command, args, "$" + "{env:DATABASE_URL}"),
  gemini: (command, args) => inside("mcpServers", command, args, "$" + "{DATABASE_URL}"),
  "copilot-cli": (command, args) => ({
    mcpServers: {
      postgres: {
        type: "local",
        command,
        args,
        env: environment("$" + "{DATABASE_URL}"),
        tools: ["*"],
      },
    },
  }),
  zed: (command, args) => inside("context_servers", command, args, PASTED),
  junie: (command, args) => inside("mcpServers", command, args, PASTED),
  opencode: (command, args) => ({
    mcp: {
      servers: {
        postgres: {
          type: "local",
          command: [command, ...args],
          environment: environment("{env:DATABASE_URL}"),
        },
      },
    },
  }),
  cline: (command, args) => inside("mcpServers", command, args, PASTED),
  goose: (command, args) => ({
    extensions: {
      postgres: {
        type: "stdio",
        name: "postgres",
        enabled: true,
        cmd: command,
        args,
        env_keys: ["DATABASE_URL"],
        envs: { REFMCP_POSTGRES_TIMEOUT_MS: "6000" },
        timeout: 300,
      },
    },
  }),
  "lm-studio": (command, args) => inside("mcpServers", command, args, PASTED),
  devin: (command, args) => inside("mcpServers", command, args, PASTED),
  vscode: (command, args) => ({
    inputs: [
      { type: "promptString", id: "database-url", description: "The database.", password: true },
    ],
    servers: {
      postgres: { type: "stdio", command, args, env: environment("$" + "{input:database-url}") },
    },
  }),
  codex: (command, args) => ({
    mcp_servers: {
      postgres: {
        command,
        args,
        env_vars: ["DATABASE_URL"],
        env: { REFMCP_POSTGRES_TIMEOUT_MS: "6000" },
      },
    },
  }),
  json: (command, args) => inside("mcpServers", command, args, PASTED),
};

function environment(secret: string): object {
  return { DATABASE_URL: secret, REFMCP_POSTGRES_TIMEOUT_MS: "6000" };
}

function inside(key: string, command: string, args: readonly string[], secret: string): object {
  return { [key]: { postgres: { command, args, env: environment(secret) } } };
}

function read(format: "json" | "jsonc" | "toml" | "yaml", text: string): unknown {
  expect(text.endsWith("\n")).toBe(true);
  if (format === "yaml") return parseYaml(text);
  return format === "toml" ? parse(text) : JSON.parse(text);
}

describe.each(HOST_NAMES)("the entry for %s", (host) => {
  it("starts the package through npx, with arguments and variables", () => {
    const entry = hostEntry(host, launch);
    expect(read(entry.format, entry.text)).toEqual(EXPECTED[host]("npx", npx));
  });

  it("starts it through cmd on Windows", () => {
    const { format, windowsText = "" } = hostEntry(host, launch);
    expect(read(format, windowsText)).toEqual(EXPECTED[host]("cmd", ["/c", "npx", ...npx]));
  });

  it("starts a local file, the same on every platform", () => {
    const entry = hostEntry(host, {
      ...launch,
      command: { command: "node", args: ["/clone/dist/bin.js"] },
    });
    expect(read(entry.format, entry.text)).toEqual(
      EXPECTED[host]("node", ["/clone/dist/bin.js", ...launch.args]),
    );
    expect(entry.windowsText).toBeUndefined();
  });

  it("contains only the command if there is nothing else", () => {
    const entry = hostEntry(host, { serverKey: "git", packageName: "@refmcp/server-git" });
    expect(entry.text).not.toContain("env");
    expect(entry.text).not.toContain("inputs");
    expect(entry.text).toMatch(/(?:\[\s*|"npx",\s*)"-y",\s*"@refmcp\/server-git"\s*\]/);
  });

  it("says where it goes on each platform", () => {
    const { places, dialog, title, documentation } = hostEntry(host, launch);
    for (const platform of ["darwin", "linux", "win32"] as const) {
      const read = placesOn({ places }, platform);
      // The first place of a scope is the one to write to.
      for (const scope of ["project", "user"])
        expect(read.find((place) => place.scope === scope)?.alternative).toBeUndefined();
    }
    expect(places.length > 0 || dialog !== undefined).toBe(true);
    expect(title).not.toBe("");
    expect(URL.canParse(documentation)).toBe(true);
  });

  it("says what to do about the secret", () => {
    expect(
      hostEntry(host, launch).notes.filter((note) => note.includes("DATABASE_URL")),
    ).toHaveLength(1);
    expect(hostEntry(host, { ...launch, env: [] }).notes.join()).not.toContain("DATABASE_URL");
  });
});

describe("hostEntry", () => {
  it("matches the hosts' own documentation", () => {
    expect(
      hostEntry("claude-desktop", {
        serverKey: "git",
        packageName: "@refmcp/server-git",
        args: ["/srv"],
      }).text,
    ).toBe(
      '{\n  "mcpServers": {\n    "git": {\n      "command": "npx",\n      "args": ["-y", "@refmcp/server-git", "/srv"]\n    }\n  }\n}\n',
    );
    expect(
      hostEntry("codex", { serverKey: "git", packageName: "@refmcp/server-git", args: ["/srv"] })
        .text,
    ).toBe('[mcp_servers.git]\ncommand = "npx"\nargs = [ "-y", "@refmcp/server-git", "/srv" ]\n');
  });

  it("gives the host's command if it supports it, options before the name", () => {
    const plain = { serverKey: "git", packageName: "@refmcp/server-git", args: ["/a b"] };
    expect(hostEntry("claude-code", plain).shellCommand).toBe(
      "claude mcp add --scope project git -- npx -y @refmcp/server-git '/a b'",
    );
    expect(hostEntry("codex", { ...plain, env: [{ name: "A", value: "1" }] }).shellCommand).toBe(
      "codex mcp add git --env A=1 -- npx -y @refmcp/server-git '/a b'",
    );
    expect(hostEntry("vscode", plain).shellCommand).toBe(
      `code --add-mcp '{"name":"git","type":"stdio","command":"npx","args":["-y","@refmcp/server-git","/a b"]}'`,
    );
    const secret = { ...plain, env: [{ name: "TOKEN", secret: true }] };
    // It cannot ask for the secret, so that it would be in the command.
    expect(hostEntry("vscode", secret).shellCommand).toBeUndefined();
    expect(hostEntry("claude-code", secret).shellCommand).toBe(
      `claude mcp add --env 'TOKEN=$\{TOKEN}' --scope project git -- npx -y @refmcp/server-git '/a b'`,
    );
    expect(hostEntry("codex", secret).shellCommand).toBeUndefined();
    expect(hostEntry("zed", plain).shellCommand).toBeUndefined();
    expect(hostEntry("copilot-cli", secret).shellCommand).toBe(
      `copilot mcp add git --env 'TOKEN=$\{TOKEN}' -- npx -y @refmcp/server-git '/a b'`,
    );
    expect(hostEntry("devin", plain).shellCommand).toBe(
      "devin mcp add -s project git -- npx -y @refmcp/server-git '/a b'",
    );
    expect(hostEntry("devin", secret).shellCommand, "it takes no variables").toBeUndefined();
    expect(hostEntry("cline", plain).shellCommand).toBe(
      "cline mcp install git --yes -- npx -y @refmcp/server-git '/a b'",
    );
  });

  it("warns of an argument that the host or cmd would change", () => {
    const odd = {
      serverKey: "git",
      packageName: "@refmcp/server-git",
      args: ["/srv/$HOME", "/srv/a&b"],
    };
    expect(hostEntry("gemini", odd).notes).toContain(
      "Gemini CLI replaces variables in arguments; check '/srv/$HOME'.",
    );
    expect(hostEntry("gemini", odd).windowsNotes).toEqual([
      `In cmd, & | < > ^ % " ! are special; pass '/srv/a&b' through env instead.`,
    ]);
    expect(hostEntry("zed", { ...odd, args: ["/srv/$HOME"] }).notes.join()).not.toContain(
      "replaces variables",
    );
  });

  it.each(["my_server", "Git", "a".repeat(21), "", "1git", "-git"])(
    "refuses the server key %j",
    (serverKey) => {
      expect(() => hostEntry("zed", { serverKey, packageName: "x" })).toThrow(TypeError);
    },
  );

  it("never contains a secret, even if one is passed", () => {
    const env = [{ name: "TOKEN", secret: true, value: "hunter2" }];
    for (const host of HOST_NAMES) {
      expect(JSON.stringify(hostEntry(host, { ...launch, env }))).not.toContain("hunter2");
    }
  });
});

describe("installLink of VS Code", () => {
  it("carries name, configuration and inputs", () => {
    const url = new URL(vscodeLink(launch));
    expect(url.origin + url.pathname).toBe("https://insiders.vscode.dev/redirect/mcp/install");
    expect(url.searchParams.get("name")).toBe("postgres");
    const file: unknown = {
      inputs: JSON.parse(url.searchParams.get("inputs") ?? ""),
      servers: { postgres: JSON.parse(url.searchParams.get("config") ?? "") },
    };
    expect(file).toEqual(EXPECTED.vscode("npx", npx));
    expect(hostEntry("vscode", launch).link).toBe(url.href);
  });

  it("prompts for other unknown values, in the arguments", () => {
    const inputs = [{ id: "file", description: "The file (any)." }];
    const args = ["--db-path=$" + "{input:file}"];
    const link = vscodeLink({ ...launch, args, env: [], inputs });
    const url = new URL(link);
    expect(JSON.parse(url.searchParams.get("inputs") ?? "")).toEqual([
      { type: "promptString", id: "file", description: "The file (any)." },
    ]);
    expect(JSON.parse(url.searchParams.get("config") ?? "").args).toEqual([
      ...npx.slice(0, 2),
      ...args,
    ]);
    expect(link, "ends where Markdown ends it").not.toMatch(/[()]/);
  });

  it("has no inputs without a secret", () => {
    expect(new URL(vscodeLink({ ...launch, env: [] })).searchParams.has("inputs")).toBe(false);
  });
});

describe("installLink of Cursor", () => {
  it("carries name and configuration in base64", () => {
    const unicode = { ...launch, args: ["/home/me/Größe+?"] };
    const url = new URL(installLink("cursor", unicode) ?? "");
    expect(url.origin + url.pathname).toBe("https://cursor.com/en/install-mcp");
    expect(url.searchParams.get("name")).toBe("postgres");
    const config: unknown = JSON.parse(
      Buffer.from(url.searchParams.get("config") ?? "", "base64").toString(),
    );
    expect(config).toEqual({
      command: "npx",
      args: ["-y", "@refmcp/server-postgres", "/home/me/Größe+?"],
      env: environment("$" + "{env:DATABASE_URL}"),
    });
    expect(hostEntry("cursor", unicode).link).toBe(url.href);
  });
});

describe("the links into the apps", () => {
  it("gives VS Code's entry and questions", () => {
    const link = hostEntry("vscode", launch).appLink ?? "";
    expect(link).toMatch(/^vscode:mcp\/install\?/);
    const { name, inputs, ...config } = JSON.parse(
      decodeURIComponent(link.slice(link.indexOf("?") + 1)),
    );
    expect({ inputs, servers: { [name]: config } }).toEqual(EXPECTED.vscode("npx", npx));
  });

  it("gives Goose each argument, and the names of the secrets that it asks for", () => {
    const secret = { ...launch, env: [{ name: "DATABASE_URL", secret: true }] };
    const url = new URL(hostEntry("goose", secret).link ?? "");
    expect(url.protocol + url.host).toBe("goose:extension");
    expect(url.searchParams.get("cmd")).toBe("npx");
    expect(url.searchParams.getAll("arg")).toEqual(npx);
    expect(url.searchParams.getAll("env")).toEqual(["DATABASE_URL=DATABASE_URL"]);
  });

  it("gives Goose no link that it would refuse: another program, or values of variables", () => {
    expect(hostEntry("goose", launch).link).toBeUndefined();
    const clone = { ...launch, env: [], command: { command: "node", args: ["/clone/bin.js"] } };
    expect(hostEntry("goose", clone).link).toBeUndefined();
  });
});

describe("the other links", () => {
  it("of LM Studio carries name and configuration", () => {
    const url = new URL(hostEntry("lm-studio", launch).link ?? "");
    expect(url.origin + url.pathname).toBe("https://lmstudio.ai/install-mcp");
    const config: unknown = JSON.parse(
      Buffer.from(url.searchParams.get("config") ?? "", "base64").toString(),
    );
    expect({ mcpServers: { [url.searchParams.get("name") ?? ""]: config } }).toEqual(
      EXPECTED["lm-studio"]("npx", npx),
    );
  });
});

const AWKWARD = [
  "",
  "plain",
  "C:\\Users\\me\\new",
  `say "hi"`,
  "it's",
  "a b\tc",
  "line\nbreak\r\n",
  "\u0000\u0001\u001f\u007f\u0085",
  "naïve – 文件 😀",
  "#{[=]}",
  "'''",
  `"""`,
  "$HOME `id` \\",
];

describe("jsonText", () => {
  it("round-trips", () => {
    const value = {
      args: AWKWARD,
      nested: { empty: {}, list: [], flag: true, many: [{ a: 1 }, ["x"]] },
    };
    expect(JSON.parse(jsonText(value))).toEqual(value);
  });

  it("keeps a short list on its line", () => {
    expect(jsonText({ args: ["-y", "x"], env: { A: "1" } })).toBe(
      '{\n  "args": ["-y", "x"],\n  "env": {\n    "A": "1"\n  }\n}',
    );
  });

  it("breaks a list that does not fit", () => {
    expect(jsonText(["x".repeat(50), "y".repeat(50)]).split("\n")).toHaveLength(4);
  });
});
