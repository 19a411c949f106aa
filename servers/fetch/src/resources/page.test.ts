import { connectInMemory, type Era } from "@refmcp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { picture } from "../../test/files.ts";
import { site } from "../../test/lab.ts";
import { server } from "../server.ts";

async function session(era: Era, denied = "") {
  const lab = await site({
    "/a": "<title>A</title><h1>One</h1><p>Two</p><h2 id=three>Three</h2><p>Four</p>",
    "/q%2Fr?x=%26&y=1%2B1": "<p>exactly</p>",
    "/b.png": { headers: { "content-type": "image/png" }, body: picture },
    "/feed": {
      headers: { "content-type": "application/rss+xml" },
      body: "<rss><channel><title>F</title><item><title>I</title></item></channel></rss>",
    },
    "/t": { headers: { "content-type": "text/plain" }, body: "plain" },
    "/out": { status: 302, headers: { location: "http://127.0.0.1:1/" } },
    "/robots.txt": {
      headers: { "content-type": "text/plain" },
      body: "User-agent: *\nDisallow: /closed",
    },
    "/closed": "<p>no</p>",
  });
  const args = ["--allow-host", lab.host, ...(denied === "" ? [] : ["--deny-host", denied])];
  const connected = await connectInMemory(server, { era, args });
  onTestFinished(() => connected.close());
  const read = async (uri: string) => (await connected.client.readResource({ uri })).contents;
  return { lab, connected, read };
}

describe.each<Era>(["legacy", "modern"])("a web page as a resource (%s)", (era) => {
  it("is its Markdown with its type, from the same download as fetch", async () => {
    const { lab, connected, read } = await session(era);
    const uri = `${lab.origin}/a`;
    expect(await read(uri)).toEqual([
      { uri, mimeType: "text/markdown", text: "# One\n\nTwo\n\n## Three\n\nFour" },
    ]);
    expect(await read(`${uri}#three`)).toMatchObject([{ text: "## Three\n\nFour" }]);
    await connected.client.callTool({ name: "fetch", arguments: { url: uri } });
    expect(lab.asked).toEqual(["/a"]);
  });

  it("has its URL unchanged, bytes of an image, and a list of a feed", async () => {
    const { lab, read } = await session(era);
    expect(await read(`${lab.origin}/q%2Fr?x=%26&y=1%2B1`)).toMatchObject([{ text: "exactly" }]);
    expect(await read(`${lab.origin}/b.png`)).toMatchObject([
      { mimeType: "image/png", blob: picture.toString("base64") },
    ]);
    expect(await read(`${lab.origin}/feed`)).toMatchObject([
      { mimeType: "text/markdown", text: "# F\n\n- I" },
    ]);
    expect(await read(`${lab.origin}/t`)).toMatchObject([
      { mimeType: "text/plain", text: "plain" },
    ]);
  });

  it("is within the guard and robots.txt, and the list has only fetched pages", async () => {
    const { lab, connected, read } = await session(era);
    for (const uri of [
      "http://127.0.0.1:1/",
      "http://[::1]/",
      "https://0x7f.1/",
      `${lab.origin}/out`,
    ])
      await expect(read(uri)).rejects.toThrow(/loopback/);
    await expect(read(`${lab.origin}/closed`)).rejects.toThrow(/robots\.txt/);
    await expect(read(`${lab.origin}/none`)).rejects.toThrow(/404/);
    await expect(read("ftp://example.org/")).rejects.toThrow();
    expect(lab.asked).not.toContain("/closed");
    await read(`${lab.origin}/t`);
    const { resources } = await connected.client.listResources();
    expect(resources.map(({ uri }) => uri.replace(/[0-9a-f]{12}$/, ""))).toEqual([
      "fetch://snapshot/",
    ]);
    expect(await read(resources[0]?.uri ?? "")).toMatchObject([{ text: "plain" }]);
  });

  it("is refused if the user denies its host", async () => {
    const { lab, read } = await session(era, "127.0.0.2");
    await expect(read(`${lab.origin}/a`)).rejects.toThrow(/denied|--deny-host|blocked/);
    expect(lab.asked).toEqual([]);
  });
});
