import { describe, expect, it } from "vitest";
import { call } from "../../../test/fixtures/messages.ts";
import { Wire } from "../../../test/fixtures/wire.ts";

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
      const result = { content: [{ type: "text", text }] };
      for (const id of ["ü", 2]) expect(await wire.next()).toMatchObject({ id, result });
      expect(await wire.answers([])).toEqual([]);
      await wire.handle.close();
    },
  );
});
