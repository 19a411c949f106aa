import { createServer } from "node:http";

export const title = "finds notes through a web API.";

/** @param {import("../../scripts/lib/demo.mjs").Harness} harness */
export async function demo({ say, connect }) {
  const notes = [{ id: "n1", text: "Ada brings the tea." }];
  const api = createServer((_, response) => response.end(JSON.stringify({ notes })));
  await new Promise((resolve) => api.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${api.address().port}`;
  try {
    say("An API on this machine, whose address the user allowed.");
    const args = ["--base-url", `http://${host}/`];
    const session = await connect("sample", {
      era: "modern",
      args: [...args, "--allow-host", host],
    });
    await session.call("sample_find", { query: "tea" }, { notes: [{ text: /tea/ }] });
    await session.close();

    say("Without that option it is refused.");
    const refused = await connect("sample", { era: "modern", args });
    await refused.call("sample_find", { query: "tea" }, { fails: /--allow-host/ });
    await refused.close();
  } finally {
    api.closeAllConnections();
    api.close();
  }
}
