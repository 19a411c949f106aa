import { expect, it } from "vitest";
import { page } from "../../../test/lab.ts";
import { descendantsOf, site } from "../../../test/session.ts";
import { CALL, makeDrivers, requestOf } from "../../../test/testers.ts";

const assertions = ["h1 is 'Good' within 50ms"];

it.runIf(process.platform === "linux")(
  "runs at the same time share a process; if it ends, those without steps are repeated, and the others say so",
  async () => {
    const before = new Set(descendantsOf(process.pid).map(({ pid }) => pid));
    const drivers = await makeDrivers(3);
    const waiting: (() => void)[] = [];
    // Holds its responses until they are released.
    const web = await site({
      "*": (_, response) =>
        void waiting.push(() =>
          response.writeHead(200, { "content-type": "text/html" }).end(page("<h1>Good</h1>")),
        ),
    });
    const run = (steps: string[] = []) =>
      drivers.run(requestOf({ url: web.url, steps, assertions }), CALL);
    const arrived = (count: number) => expect.poll(() => web.hits.length).toBe(count);
    const ended = run(["wait for 1ms"]).catch((error: unknown) => String(error));
    const others = [run(), run()];
    await arrived(3);
    const [shared, ...none] = descendantsOf(process.pid).filter(
      ({ pid, command }) => !before.has(pid) && command.includes("--max-old-space-size=512"),
    );
    expect(none).toEqual([]);
    process.kill(shared?.pid ?? 0, "SIGKILL");
    expect(await ended).toContain("The process that drives the browser ended during the run.");
    await arrived(5);
    for (const release of waiting) release();
    expect((await Promise.all(others)).map(({ passed }) => passed)).toEqual([true, true]);
    await drivers.close();
    await expect(run()).rejects.toMatchObject({ kind: "unavailable" });
  },
);
