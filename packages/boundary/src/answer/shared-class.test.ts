import { expect, it, vi } from "vitest";
import { JsonText, ToolError } from "./index.ts";

it("instances of another copy of a class are recognized, and nothing else is", async () => {
  vi.resetModules();
  const copy = await import("./index.ts");
  expect(copy.ToolError).not.toBe(ToolError);
  expect(new copy.ToolError("invalid", "x")).toBeInstanceOf(ToolError);
  expect(new copy.JsonText("{}")).toBeInstanceOf(JsonText);
  for (const other of [new Error("x"), new JsonText("{}"), {}, null, undefined, "ToolError"])
    expect(other instanceof ToolError).toBe(false);
});
