import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { familyOf, killed } from "./driver.ts";

describe("memory of processes", () => {
  it.runIf(process.platform !== "win32")("covers a process and its descendants", async () => {
    const hold =
      'const held = Buffer.alloc(50e6, 1); console.log("ready"); setInterval(() => held, 1e6)';
    const child = spawn(process.execPath, ["-e", hold], { stdio: ["ignore", "pipe", "ignore"] });
    try {
      await once(child.stdout, "data");
      const [own, ...others] = await familyOf(process.pid);
      expect(own?.bytes).toBeGreaterThan(20e6);
      const found = others.find(({ pid }) => pid === child.pid);
      expect(found?.parent).toBe(process.pid);
      expect(found?.bytes).toBeGreaterThan(50e6);
      expect(found?.bytes).toBeLessThan(1e9);
    } finally {
      if (child.pid !== undefined) killed(child.pid);
    }
  });
});
