import { describe, expect, it } from "vitest";
import { HOST_NAMES } from "./host-names.ts";
import { allHosts, overdueHosts, placesOn } from "./hosts.ts";

describe.each(allHosts())("the facts of $id", (host) => {
  it("have a date and sources", () => {
    expect(new Date(`${host.checked}T00:00:00Z`).toISOString()).toBe(
      `${host.checked}T00:00:00.000Z`,
    );
    for (const source of [host.documentation, ...(host.sources ?? [])])
      expect(new URL(source).protocol).toBe("https:");
    expect(host.restart).toMatch(/^[A-Z].*[^.]\.$/);
  });

  it("name each place once, in the notation of its platform", () => {
    const all = host.places.map(({ scope, platform, path }) => `${scope} ${platform} ${path}`);
    expect(new Set(all).size).toBe(all.length);
    for (const { scope, platform, path } of host.places) {
      if (scope === "project") expect(path).toMatch(/^[.a-z]/i);
      else expect(path).toMatch(platform === "Windows" ? /^%[A-Z]+%\\[^/]+$/ : /^~\/[^\\%]+$/);
    }
  });

  it("have one place to write to for each scope and platform, if they have any", () => {
    for (const platform of ["darwin", "linux", "win32"] as const)
      for (const scope of ["project", "user"] as const) {
        const places = placesOn(host, platform).filter((place) => place.scope === scope);
        const preferred = places.filter(({ alternative, installation }) => {
          return alternative !== true && installation === undefined;
        });
        const hasInstallations = places.some(({ installation }) => installation !== undefined);
        if (places.length > 0 && !hasInstallations) expect(preferred).toHaveLength(1);
      }
  });
});

describe("overdueHosts", () => {
  const hosts = [
    { id: "zed", checked: "2026-08-27" },
    { id: "devin", checked: "2026-11-27" },
  ] as const;

  it.each([
    ["2026-11-27", []],
    ["2026-11-28", ["zed"]],
    ["2027-02-27", ["zed"]],
    ["2027-02-28", ["zed", "devin"]],
  ])("on %s names %j", (today, overdue) => {
    expect(overdueHosts(today, hosts).map(({ id }) => id)).toEqual(overdue);
  });

  it("names no host on the day of the last comparison, and each of them in time", () => {
    const latest = allHosts()
      .map(({ checked }) => checked)
      .sort()
      .at(-1);
    expect(overdueHosts(latest ?? "")).toEqual([]);
    expect(overdueHosts("2100-01-01").map(({ id }) => id)).toEqual([...HOST_NAMES]);
  });
});
