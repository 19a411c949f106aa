import { describe, expect, it, onTestFinished } from "vitest";
import { page } from "../../../test/lab.ts";
import { descendantsOf, site } from "../../../test/session.ts";
import { CALL, makeDrivers, requestOf } from "../../../test/testers.ts";

const assertions = ["h1 is 'Good' within 50ms"];

/** Drivers for three runs at once, and a site that holds its responses until it is released. */
async function lab() {
  const before = new Set(descendantsOf(process.pid).map(({ pid }) => pid));
  const drivers = await makeDrivers(3);
  onTestFinished(() => drivers.close());
  const waiting: (() => void)[] = [];
  let heading = "Good";
  const web = await site({
    "*": (_, response) =>
      void waiting.push(() =>
        response.writeHead(200, { "content-type": "text/html" }).end(page(`<h1>${heading}</h1>`)),
      ),
  });
  return {
    run: (steps: string[] = []) =>
      drivers.run(requestOf({ url: web.url, steps, assertions }), CALL),
    close: () => drivers.close(),
    processes: () =>
      descendantsOf(process.pid).filter(
        ({ pid, command }) => !before.has(pid) && command.includes(`--max-old-space-size=512`),
      ),
    /** Waits until this many requests have arrived. */
    arrived: (count: number) => expect.poll(() => web.hits.length).toBe(count),
    respond(text = "Good") {
      heading = text;
      for (const release of waiting.splice(0)) release();
    },
  };
}

describe.runIf(process.platform === "linux")("runs at the same time", () => {
  it("share a process; if it ends, those without steps are repeated, and the others say so", async () => {
    const { run, processes, arrived, respond, close } = await lab();
    const ended = run(["wait for 1ms"]).catch((error: unknown) => String(error));
    const others = [run(), run()];
    await arrived(3);
    const [shared, ...none] = processes();
    expect(none).toEqual([]);
    process.kill(shared?.pid ?? 0, "SIGKILL");
    expect(await ended).toContain("The process that drives the browser ended during the run.");
    await arrived(5);
    respond();
    expect((await Promise.all(others)).map(({ passed }) => passed)).toEqual([true, true]);
    await close();
    await expect(run()).rejects.toMatchObject({ kind: "unavailable" });
  });
});
