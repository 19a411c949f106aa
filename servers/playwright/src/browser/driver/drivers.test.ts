import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { isLong } from "../../../../../vitest.long.ts";
import { page } from "../../../test/lab.ts";
import { descendantsOf } from "../../../test/processes.ts";
import { site } from "../../../test/session.ts";
import { CALL, makeDrivers, requestOf } from "../../../test/testers.ts";
import { killed } from "./driver.ts";
import { HEAP_MB } from "./process.ts";

const assertions = ["h1 is 'Good' within 50ms"];

/** Drivers for three runs at once, and a site that responds when it is told to. */
async function lab() {
  const before = new Set(descendantsOf(process.pid).map(({ pid }) => pid));
  const log: string[] = [];
  const drivers = await makeDrivers({}, (line) => log.push(line), undefined, 3);
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
    processes: () =>
      descendantsOf(process.pid).filter(
        ({ pid, command }) =>
          !before.has(pid) && command.includes(`--max-old-space-size=${HEAP_MB}`),
      ),
    repeated: () => log.filter((line) => line.includes("is repeated alone")).length,
    /** Waits until this many requests have arrived. */
    arrived: (count: number) => expect.poll(() => web.hits.length).toBe(count),
    respond(text = "Good") {
      heading = text;
      for (const one of waiting.splice(0)) one();
    },
  };
}

describe.runIf(process.platform === "linux")("runs at the same time", () => {
  if (isLong)
    it("share a process and a browser if they have no steps", async () => {
      const { run, processes, arrived, respond } = await lab();
      const runs = Promise.all([run(), run(), run()]);
      await arrived(3);
      expect(processes()).toHaveLength(1);
      respond();
      expect((await runs).map(({ passed }) => passed)).toEqual([true, true, true]);
    });

  it("have a process each if they have steps, and the end of one costs only its own verdict", async () => {
    const { run, processes, arrived, respond, repeated } = await lab();
    const steps = ["wait for 1ms"];
    const ended = run(steps).catch((error: unknown) => String(error));
    await arrived(1);
    const [first] = processes();
    const others = [run(steps), run()];
    await arrived(3);
    expect(processes()).toHaveLength(3);
    killed(first?.pid ?? 0);
    expect(await ended).toContain("The process that drives the browser ended during the run.");
    respond();
    expect((await Promise.all(others)).map(({ passed }) => passed)).toEqual([true, true]);
    expect(repeated()).toBe(0);
  });

  if (isLong)
    it("are each repeated alone if their common process ends", async () => {
      const { run, processes, arrived, respond, repeated } = await lab();
      const runs = Promise.all([run(), run()]);
      await arrived(2);
      const [shared] = processes();
      killed(shared?.pid ?? 0);
      await arrived(4);
      expect(processes().filter(({ pid }) => pid !== shared?.pid)).toHaveLength(2);
      respond();
      expect((await runs).map(({ passed }) => passed)).toEqual([true, true]);
      expect(repeated()).toBe(2);
    });

  if (isLong)
    it("are repeated alone if a check failed while their process did not respond", async () => {
      const { run, processes, arrived, respond, repeated } = await lab();
      const runs = Promise.all([run(), run()]);
      await arrived(2);
      const [shared] = processes();
      process.kill(shared?.pid ?? 0, "SIGSTOP");
      await sleep(400);
      process.kill(shared?.pid ?? 0, "SIGCONT");
      respond("Bad");
      await arrived(4);
      respond();
      expect((await runs).map(({ passed }) => passed)).toEqual([true, true]);
      expect(repeated()).toBe(2);
    });
});

if (isLong)
  it("a failed check is the verdict if no other run could have disturbed it", async () => {
    const { run, arrived, respond, repeated } = await lab();
    const running = run();
    await arrived(1);
    respond("Bad");
    expect((await running).passed).toBe(false);
    expect(repeated()).toBe(0);
  });
