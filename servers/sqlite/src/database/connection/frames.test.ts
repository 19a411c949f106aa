import { expect, it } from "vitest";
import { FrameReader, frameOf } from "./frames.ts";

const VALUES: readonly unknown[] = [
  {},
  { text: "é 😀 \ud800 \u2028", list: [1, -0.5, true, null], nested: { "__proto__ ": "x" } },
  { text: "long ".repeat(50_000) },
  { params: [2n ** 63n, Number.POSITIVE_INFINITY, Number.NaN, -0, undefined] },
  { bytes: Buffer.from([0, 255]), session: new Map([["users", [1n]]]) },
];

it.each([1, 3, 1_000_000])("values arrive exactly, in chunks of %d bytes", (size) => {
  const bytes = Buffer.concat(VALUES.map(frameOf));
  const reader = new FrameReader<unknown>();
  const found: unknown[] = [];
  for (let at = 0; at < bytes.length; at += size)
    found.push(...reader.add(bytes.subarray(at, at + size)));
  expect(found).toHaveLength(VALUES.length);
  for (const [at, value] of VALUES.entries()) expect(found[at]).toEqual(value);
});

it("leaves the prototype of an answer alone", () => {
  const [value] = new FrameReader<object>().add(
    frameOf(JSON.parse('{"__proto__": {"isAdmin": true}}')),
  );
  expect(Object.keys(value ?? {})).toEqual(["__proto__"]);
  expect(value).not.toHaveProperty("isAdmin");
});
