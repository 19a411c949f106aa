import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { familyOf, killed, usedOf } from "./driver.ts";

describe("memory of processes", () => {
  it("is read in kB, whatever the size of a page is", () => {
    const status =
      "Name:\tPPid: 9 VmRSS:\nPid:\t12\nPPid:\t7\nVmHWM:\t  900000 kB\nVmRSS:\t  524288 kB\n";
    expect(usedOf(12, status)).toEqual({ pid: 12, parent: 7, bytes: 512 * 1_048_576 });
    expect(usedOf(2, "Name:\tkthreadd\nPPid:\t0\n")).toEqual({ pid: 2, parent: 0, bytes: 0 });
  });

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
