import { pathToFileURL } from "node:url";
import { fakeCall } from "@refmcp/testing";
import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import debugError from "./debug-error.ts";

it("embeds the end of a log", async () => {
  const { files, put, outside } = await scratch();
  const lines = Array.from({ length: 300 }, (_, i) => `line ${i}\n`).join("");
  const path = await put("logs/error.log", lines);
  const messages = await debugError.run({ path: "logs/error.log", error: "E1" }, files, fakeCall());
  expect(messages).toMatchObject([
    { content: { type: "text", text: expect.stringContaining("Explain this error: E1.") } },
    {
      content: {
        type: "resource",
        resource: {
          uri: `${pathToFileURL(path).href}?tail=200`,
          text: lines.slice(lines.indexOf("line 100\n")),
        },
      },
    },
  ]);
  const out = debugError.run({ path: `${outside}/x.log` }, files, fakeCall());
  await expect(Promise.resolve(out)).rejects.toMatchObject({ kind: "denied" });
});
