import { describe, expect, it } from "vitest";
import { whileHeld } from "./while-held.ts";

/** The operating system's refusal, the first `times`. */
function refusing(code: string, times: number) {
  let calls = 0;
  return {
    calls: () => calls,
    work(): string {
      calls += 1;
      if (calls <= times) throw Object.assign(new Error(`${code}: refused`), { code });
      return "done";
    },
  };
}

describe("whileHeld", () => {
  it.each(["EPERM", "EACCES", "EBUSY"])("waits on Windows until %s ends", async (code) => {
    const { work, calls } = refusing(code, 2);
    await expect(whileHeld("a.txt", work, "win32")).resolves.toBe("done");
    expect(calls()).toBe(3);
  });

  it("gives up on Windows after eight attempts, and says that the file may be open", async () => {
    const { work, calls } = refusing("EPERM", Number.POSITIVE_INFINITY);
    await expect(whileHeld("a.txt", work, "win32")).rejects.toMatchObject({
      kind: "conflict",
      code: "held",
      message: expect.stringContaining("another program has it open"),
    });
    expect(calls()).toBe(8);
  });

  it.each(["linux", "darwin"] as const)(
    "fails at once on %s, where the permissions are wrong",
    async (platform) => {
      const { work, calls } = refusing("EPERM", 1);
      await expect(whileHeld("a.txt", work, platform)).rejects.toMatchObject({ code: "EPERM" });
      expect(calls()).toBe(1);
    },
  );

  it("does not repeat what fails for another reason", async () => {
    const { work, calls } = refusing("ENOENT", 1);
    await expect(whileHeld("a.txt", work, "win32")).rejects.toMatchObject({ code: "ENOENT" });
    expect(calls()).toBe(1);
  });
});
