import { describe, expect, it } from "vitest";
import { call } from "../../../test/fixtures/messages.ts";
import { Wire } from "../../../test/fixtures/wire.ts";

const said = (text: string) => ({ content: [{ type: "text", text }] });

describe("lines", () => {
  it.each([1, 3, 65_536])(
    "are read correctly in chunks of %i bytes: BOM, CRLF, empty lines, UTF-8, U+2028",
    async (size) => {
      const wire = new Wire();
      const text = "häß€😀\u2028\u2029 ";
      const bytes = Buffer.from(
        `\ufeff${JSON.stringify(call("ü", "echo", { text }))}\r\n\r\n \t\n\n${JSON.stringify(call(2, "echo", { text }))}\n`,
      );
      for (let at = 0; at < bytes.length; at += size) wire.write(bytes.subarray(at, at + size));
      expect(await wire.next()).toMatchObject({ id: "ü", result: said(text) });
      expect(await wire.next()).toMatchObject({ id: 2, result: said(text) });
      expect(await wire.answers([])).toEqual([]);
      await wire.handle.close();
    },
  );
});
