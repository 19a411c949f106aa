import { describe, expect, it } from "vitest";
import { checkAddress, parseRemote, progressReader } from "./address.ts";

const rules = { protocols: ["https", "ssh"], allowedHosts: [] };

describe("parseRemote", () => {
  it("reads URLs and the short form of ssh", () => {
    expect(parseRemote("https://example.org:8443/a/b.git", rules)).toMatchObject({
      scheme: "https",
      host: "example.org",
      port: 8443,
    });
    expect(parseRemote("ssh://git@example.org/a.git", rules)).toMatchObject({
      scheme: "ssh",
      host: "example.org",
    });
    expect(parseRemote("git@example.org:team/a.git", rules)).toMatchObject({
      scheme: "ssh",
      host: "example.org",
    });
    expect(parseRemote("https://[2001:db8::1]/a", rules).host).toBe("2001:db8::1");
  });

  it("never shows a password", () => {
    const attempt = () => parseRemote("http://me:sesame@-example.org/x", rules);
    expect(attempt).toThrow();
    expect(attempt).not.toThrow(/sesame/);
  });
});

describe("checkAddress", () => {
  const check = (url: string, allowedHosts: string[] = []) => {
    const free = { protocols: ["https", "ssh"], allowedHosts };
    return checkAddress(parseRemote(url, free), free);
  };

  it("refuses what the network guard refuses, with its own error code", async () => {
    for (const host of ["10.1.2.3", "[::ffff:10.0.0.1]", "[64:ff9b::a00:1]", "printer.local"])
      await expect(check(`https://${host}/x.git`), host).rejects.toMatchObject({
        code: "host_not_allowed",
      });
  });

  it("lets an allowed host through, and pins a name to the address that was checked", async () => {
    expect(await check("https://10.1.2.3/x.git", ["10.1.2.3"])).toEqual([]);
    const [pin] = await check("https://localhost:8443/x.git", ["localhost"]);
    expect(pin?.[0]).toBe("http.curloptResolve");
    expect(pin?.[1]).toMatch(/^localhost:8443:(?:127\.0\.0\.1|\[::1\])/);
  });
});

describe("progressReader", () => {
  it("turns git's lines into increasing steps", () => {
    const steps: [number, number, string][] = [];
    const read = progressReader((...step) => steps.push(step));
    read("remote: Counting objects: 100% (5/5), done.\r");
    read("Receiving objects:  50% (1/2)\rReceiving objects:  40% (1/2)\r");
    read("nonsense\nResolving deltas: 100% (3/3), done.\n");
    expect(steps.map(([done]) => done)).toEqual([200, 450, 600]);
    expect(steps[0]).toEqual([200, 700, "Counting: 100%"]);
  });
});
