import { appendFile, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { connectInMemory, type Era, type World } from "@refmcp/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { world as makeWorld } from "../../test/fixture.ts";
import { server } from "../server.ts";

let world: World;
let root = "";

beforeEach(async () => {
  world = await makeWorld();
  root = world.args[0] ?? "";
});
afterEach(() => world.dispose());

describe.each<Era>(["legacy", "modern"])("file resources, %s era", (era) => {
  it("reads text and bytes, and refuses paths outside", async () => {
    const { client, close } = await connectInMemory(server, { era, args: world.args });
    const read = async (path: string) =>
      (await client.readResource({ uri: pathToFileURL(join(root, path)).href })).contents[0];
    expect(await read("README.md")).toMatchObject({
      text: "# A project\n\nIt greets people.\n",
      mimeType: "text/markdown",
    });
    const pixel = await readFile(join(root, "pixel.png"));
    expect(await read("pixel.png")).toMatchObject({
      blob: pixel.toString("base64"),
      mimeType: "image/png",
    });
    await expect(read("src")).rejects.toThrow("is a directory");
    expect(await read("src/main.ts")).toMatchObject({ mimeType: "text/typescript" });

    await expect(read("leak.txt")).rejects.toMatchObject({ code: -32602 });
    await expect(read("../secret.txt")).rejects.toMatchObject({ code: -32602 });
    await expect(read("missing.txt")).rejects.toMatchObject({ code: -32602 });
    await expect(client.readResource({ uri: "file:///etc/passwd" })).rejects.toMatchObject({
      code: -32602,
    });
    await close();
  });

  it("lists the newest files of the directories, with their size, type and time", async () => {
    const path = join(root, "src", "fresh.rs");
    await writeFile(path, "fn main() {}\n");
    const later = new Date("2099-01-01T00:00:00Z");
    await utimes(path, later, later);
    const { client, close } = await connectInMemory(server, { era, args: world.args });
    const { resources } = await client.listResources();
    const uri = pathToFileURL(path).href;
    expect(resources[0]).toEqual({
      uri,
      name: "fresh.rs",
      title: path,
      description: "13 B, modified 2099-01-01T00:00:00.000Z",
      mimeType: "text/x-rust",
      size: 13,
      annotations: { lastModified: "2099-01-01T00:00:00.000Z" },
    });
    expect((await client.readResource({ uri })).contents[0]).toMatchObject({
      mimeType: "text/x-rust",
    });
    await close();
  });

  it("reads the last lines of a text of any size", async () => {
    const log = join(root, "app.csv");
    await writeFile(log, "a line of the log\n".repeat(400_000));
    await appendFile(log, "one\ntwo\n");
    const { client, close } = await connectInMemory(server, { era, args: world.args });
    const uri = pathToFileURL(log).href;
    await writeFile(join(root, "large.bin"), Buffer.alloc(5_000_000));
    const listed = (await client.listResources()).resources.map((resource) => resource.uri);
    expect(listed).toContain(`${uri}?tail=200`);
    expect(listed.filter((uri) => uri.includes("large.bin"))).toEqual([]);
    await expect(client.readResource({ uri })).rejects.toThrow("?tail=200");
    const { contents } = await client.readResource({ uri: `${uri}?tail=2` });
    expect(contents).toEqual([{ uri: `${uri}?tail=2`, mimeType: "text/csv", text: "one\ntwo\n" }]);
    for (const tail of ["0", "-1", "x", "100000"])
      await expect(client.readResource({ uri: `${uri}?tail=${tail}` })).rejects.toThrow(
        "1 to 10,000",
      );
    await expect(client.readResource({ uri: "file:///etc/passwd?tail=5" })).rejects.toMatchObject({
      code: -32602,
    });
    await close();
  });

  it("completes paths from the allowed directories downwards", async () => {
    const { client, close } = await connectInMemory(server, { era, args: world.args });
    const complete = async (value: string) =>
      (
        await client.complete({
          ref: { type: "ref/resource", uri: "file:///{+path}{?tail}" },
          argument: { name: "path", value },
        })
      ).completion.values;
    const inside = root.slice(1);
    expect(await complete("")).toEqual([`${inside}/`]);
    expect(await complete(`${inside}/src/`)).toEqual([
      `${inside}/src/greet.ts`,
      `${inside}/src/main.ts`,
    ]);
    expect(await complete(`${inside}/s`)).toEqual([`${inside}/src/`]);
    expect(await complete("etc/pass")).toEqual([]);
    await close();
  });
});

it("notifies the subscriber of a file that did not exist when it appears", async () => {
  const { client, close } = await connectInMemory(server, { era: "modern", args: world.args });
  const updates: string[] = [];
  client.setNotificationHandler(
    "notifications/resources/updated",
    ({ params }) => void updates.push(params.uri),
  );
  const uri = pathToFileURL(join(root, "later.log")).href;
  const { honoredFilter } = await client.listen({ resourceSubscriptions: [uri] });
  expect(honoredFilter).toEqual({ resourceSubscriptions: [uri] });
  await writeFile(join(root, "later.log"), "started\n");
  await expect.poll(() => updates).toContain(uri);
  await close();
});

it("notifies only the subscribers of a file when it changes", async () => {
  const { client, close } = await connectInMemory(server, { era: "modern", args: world.args });
  const updates: string[] = [];
  client.setNotificationHandler(
    "notifications/resources/updated",
    ({ params }) => void updates.push(params.uri),
  );
  const uri = pathToFileURL(join(root, "README.md")).href;
  const outside = pathToFileURL(join(root, "..", "secret.txt")).href;
  const { honoredFilter } = await client.listen({ resourceSubscriptions: [uri, outside] });
  expect(honoredFilter).toEqual({ resourceSubscriptions: [uri] });
  await client.callTool({
    name: "write_file",
    arguments: { path: "old.txt", content: "not watched" },
  });
  await client.callTool({
    name: "write_file",
    arguments: { path: "README.md", content: "changed" },
  });
  await expect.poll(() => updates).toContain(uri);
  expect(new Set(updates)).toEqual(new Set([uri]));
  await close();
});
