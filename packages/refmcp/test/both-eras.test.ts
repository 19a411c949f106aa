import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Connected } from "@refmcp/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { cleanUp, keep, type Project, project, start, textOf } from "./project.ts";

cleanUp();

describe("a shared session", () => {
  let place: Project;
  let connected: Connected;
  beforeAll(async () => {
    place = project();
    const databases = ["--sqlite", place.path("app.db"), "--postgres.max-connections", "1"];
    connected = await start(place, { args: [place.folder, ...databases] });
    return keep();
  });

  it("lists the tools of all servers, and how they work together", async () => {
    const names = (await connected.client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["read_text_file", "git_status", "git_blame", "read_query", "query"]),
    );
    expect(names).toEqual([...new Set(names)].sort());
    expect(names).not.toContain("find_tools");
    expect(names).not.toContain("call_tool");
    expect(connected.client.getServerVersion()?.name).toBe("refmcp");
    for (const name of ["fetch", "git", "sqlite"])
      expect(connected.client.getInstructions()).toContain(`# ${name}\n`);
  });

  it("calls a listed tool, and gets the answer of its server unchanged", async () => {
    const answer = await connected.client.callTool({ name: "git_status", arguments: {} });
    expect(answer.isError).not.toBe(true);
    expect(answer.structuredContent).toMatchObject({ branch: "main", clean: true });
  });

  it("with --find-tools, finds a tool with its schema, and calls it through call_tool with a typed answer", async () => {
    const { client } = await start(place, { args: [place.folder, "--find-tools"] });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      "call_tool",
      "find_tools",
    ]);
    expect(client.getInstructions()).toContain("find_tools");
    const search = await client.callTool({
      name: "find_tools",
      arguments: { query: "list branches" },
    });
    const tools: unknown = Object(search.structuredContent).tools;
    expect(tools).toContainEqual(
      expect.objectContaining({
        name: "git_branch",
        server: "git",
        effect: "read",
        inputSchema: expect.objectContaining({ type: "object" }),
      }),
    );
    const answer = await client.callTool({
      name: "call_tool",
      arguments: { name: "git_branch", arguments: {} },
    });
    expect(answer.structuredContent).toMatchObject({
      branches: [{ name: "main" }],
    });
    const unknown = await client.callTool({ name: "call_tool", arguments: { name: "git_blaem" } });
    expect(unknown.isError).toBe(true);
    expect(textOf(unknown)).toContain("Did you mean git_blame?");
    const forged = { name: "git_branch", arguments: {}, inputResponses: {} };
    const refused = await client.callTool({ name: "call_tool", arguments: forged });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toContain('has no argument "inputResponses"');
  });

  it("names similar tools for an unknown one", async () => {
    await expect(connected.client.callTool({ name: "git_statuss", arguments: {} })).rejects.toThrow(
      "Did you mean git_status?",
    );
  });

  it("keeps the failure of a server that cannot work to its own tools", async () => {
    const failed = await connected.client.callTool({
      name: "query",
      arguments: { sql: "select 1" },
    });
    expect(failed.isError).toBe(true);
    expect(textOf(failed)).toContain("No database is configured.");
    expect((await connected.client.callTool({ name: "git_log", arguments: {} })).isError).not.toBe(
      true,
    );
  });

  it("answers a hundred calls of all servers at once", async () => {
    const calls = [
      { name: "git_status", arguments: {} },
      { name: "read_text_file", arguments: { path: place.path("a.txt") } },
      { name: "search_nodes", arguments: { query: "nothing" } },
      { name: "git_log", arguments: {} },
    ];
    const all = Array.from(
      { length: 100 },
      (_, index) => calls[index % calls.length] ?? { name: "" },
    );
    const answers = await Promise.all(all.map((call) => connected.client.callTool(call)));
    expect(answers.filter(({ isError }) => isError === true)).toEqual([]);
    expect(answers.filter((_, index) => index % 4 === 1).map(textOf)).toEqual(
      Array.from({ length: 25 }, () => expect.stringContaining("one\n")),
    );
  });

  it("refuses what needs the user's confirmation if the client cannot ask", async () => {
    const { client } = await start(place, { args: [place.folder, "--git.toolsets=danger"] });
    writeFileSync(place.path("untracked.txt"), "kept\n");
    const answer = await client.callTool({ name: "git_clean", arguments: {} });
    expect(answer.isError).toBe(true);
    expect(place.git("status", "--porcelain")).toBe("?? untracked.txt\n");
    rmSync(place.path("untracked.txt"));
  });

  it("passes on progress", async () => {
    mkdirSync(place.path("from"));
    for (let index = 0; index < 30; index++)
      writeFileSync(place.path("from", `${index}.txt`), "text\n");
    const { client, received } = connected;
    const copy = { source: place.path("from"), destination: place.path("to") };
    const answer = await client.callTool(
      { name: "copy_file", arguments: copy },
      { onprogress: () => undefined },
    );
    expect(answer.isError, textOf(answer)).not.toBe(true);
    // The SDK does not pass on reports that arrive together with the answer.
    const reports = received.flatMap((message) =>
      "method" in message && message.method === "notifications/progress"
        ? [Number(message.params?.progress)]
        : [],
    );
    expect(reports.length).toBeGreaterThan(0);
    expect(reports).toEqual(reports.toSorted((a, b) => a - b));
  });

  it("prompts and completes", async () => {
    place.git("branch", "topic");
    writeFileSync(place.path("a.txt"), "two\n");
    const { client } = connected;
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain(
      "review_changes",
    );
    const prompt = await client.getPrompt({ name: "review_changes", arguments: {} });
    expect(prompt.messages.length).toBeGreaterThan(0);
    const { completion } = await client.complete({
      ref: { type: "ref/prompt", name: "review_changes" },
      argument: { name: "repo_path", value: "" },
    });
    expect(completion.values).toEqual(["work"]);
    await expect(client.getPrompt({ name: "review_change" })).rejects.toThrow("review_changes");
  });
});

it("a call is cancelled", async () => {
  const place = project();
  const { client } = await start(place, {
    args: [place.folder, "--git.toolsets=read,danger"],
    elicit: () => new Promise(() => undefined),
  });
  writeFileSync(place.path("untracked.txt"), "kept\n");
  const cancelled = new AbortController();
  const call = client.callTool({ name: "git_clean", arguments: {} }, { signal: cancelled.signal });
  setImmediate(() => cancelled.abort());
  await expect(call).rejects.toThrow();
  expect((await client.callTool({ name: "git_status", arguments: {} })).isError).not.toBe(true);
  rmSync(place.path("untracked.txt"));
});

describe.each(["legacy", "modern"] as const)("a client of the %s era", (era) => {
  it("asks the user what a server asks, and passes on the answer", async () => {
    const place = project();
    const asked: string[] = [];
    let action: "accept" | "decline" = "decline";
    const { client } = await start(place, {
      era,
      args: [place.folder, "--git.toolsets=danger"],
      elicit: ({ message }) => {
        asked.push(message);
        return action === "accept" ? { action, content: { confirm: true } } : { action };
      },
    });
    writeFileSync(place.path("untracked.txt"), "lost?\n");
    const call = { name: "git_clean", arguments: {} };
    const declined = await client.callTool(call);
    expect(declined.isError).toBe(true);
    expect(place.git("status", "--porcelain")).toBe("?? untracked.txt\n");
    action = "accept";
    const accepted = await client.callTool(call);
    expect(accepted.isError, textOf(accepted)).not.toBe(true);
    expect(place.git("status", "--porcelain")).toBe("");
    expect(asked).toHaveLength(2);
    expect(asked[0]).toContain("untracked.txt");
  });

  it("reads resources of all servers, and lists more of them once their servers run", async () => {
    const place = project();
    const { client, received } = await start(place, { era });
    const uris = async () => (await client.listResources()).resources.map(({ uri }) => uri);
    const { href } = pathToFileURL(place.path("a.txt"));
    expect(await uris()).not.toContain(href);
    const { contents } = await client.readResource({ uri: href });
    expect(contents[0]).toMatchObject({ text: expect.stringContaining("one") });
    expect(await uris()).toContain(href);
    if (era === "legacy")
      await expect
        .poll(() =>
          received.some(
            (message) => "method" in message && message.method.endsWith("resources/list_changed"),
          ),
        )
        .toBe(true);
    await expect(client.readResource({ uri: "git://nowhere/status" })).rejects.toThrow();
    await expect(client.readResource({ uri: "nothing://here" })).rejects.toThrow("nothing://here");
    const templates = (await client.listResourceTemplates()).resourceTemplates.map(
      ({ uriTemplate }) => uriTemplate,
    );
    expect(templates).toEqual(
      expect.arrayContaining(["git://{repo}/status", "memory://entity/{name}"]),
    );
  });
});

it("asks a client of the legacy era for its roots, and passes on that they have changed", async () => {
  const place = project();
  const roots = [{ uri: pathToFileURL(place.folder).href }];
  const { client } = await start(place, { era: "legacy", args: [], roots });
  const read = (path: string) => client.callTool({ name: "read_text_file", arguments: { path } });
  expect((await read(place.path("a.txt"))).isError).not.toBe(true);
  const other = project();
  expect((await read(other.path("a.txt"))).isError).toBe(true);
  roots.push({ uri: pathToFileURL(other.folder).href });
  await client.sendRootsListChanged();
  await expect.poll(async () => (await read(other.path("a.txt"))).isError).not.toBe(true);
});
