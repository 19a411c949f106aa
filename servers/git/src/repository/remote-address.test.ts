import { describe, expect, it } from "vitest";
import { progressReader } from "./remote.ts";
import { isPublic, parseRemote } from "./remote-address.ts";

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

describe("isPublic", () => {
  it("knows private and special addresses in every form", () => {
    for (const address of ["93.184.216.34", "2606:2800:220:1::1"])
      expect(isPublic(address), address).toBe(true);
    for (const address of [
      "10.1.2.3",
      "127.0.0.1",
      "0.0.0.0",
      "100.64.0.1",
      "169.254.169.254",
      "172.16.0.1",
      "192.0.2.1",
      "224.0.0.1",
      "255.255.255.255",
      "::1",
      "::",
      "fe80::1",
      "fc00::1",
      "ff02::1",
      "::ffff:10.0.0.1",
      "64:ff9b::a00:1",
      "2002:a00:1::",
      "nonsense",
    ])
      expect(isPublic(address), address).toBe(false);
  });
});

describe("progressReader", () => {
  it("turns git's lines into steps that only go up", () => {
    const steps: [number, number, string][] = [];
    const read = progressReader((...step) => steps.push(step));
    read("remote: Counting objects: 100% (5/5), done.\r");
    read("Receiving objects:  50% (1/2)\rReceiving objects:  40% (1/2)\r");
    read("nonsense\nResolving deltas: 100% (3/3), done.\n");
    expect(steps.map(([done]) => done)).toEqual([200, 450, 600]);
    expect(steps[0]).toEqual([200, 700, "Counting objects: 100% (5/5), done."]);
  });
});
