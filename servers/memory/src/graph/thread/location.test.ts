import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { locationOf, spaceProblem } from "./location.ts";

const base = {
  file: undefined,
  store: undefined,
  space: "default",
  project: "/home/ada/My Project",
};

describe("locationOf", () => {
  beforeEach(() => {
    vi.stubEnv("XDG_DATA_HOME", resolve("/data"));
    vi.stubEnv("LOCALAPPDATA", resolve("/data"));
  });
  afterEach(() => void vi.unstubAllEnvs());

  it("keeps the memory in the platform's data directory", () => {
    const data = {
      darwin: join(homedir(), "Library", "Application Support", "refmcp"),
      win32: join(resolve("/data"), "refmcp", "Data"),
    };
    const folder =
      process.platform === "darwin" || process.platform === "win32"
        ? data[process.platform]
        : "/data/refmcp";
    expect(locationOf(base)).toEqual({
      kind: "sqlite",
      isDefault: true,
      space: "default",
      file: join(folder, "memory", "memory.db"),
    });
  });

  it("puts the database of an official file next to it", () => {
    const file = resolve("/x/memory.jsonl");
    expect(locationOf({ ...base, file })).toEqual({
      kind: "sqlite",
      isDefault: false,
      space: "default",
      file: resolve("/x/memory.db"),
      official: file,
    });
    expect(locationOf({ ...base, file: resolve("/x/old.JSON") })).toMatchObject({
      file: resolve("/x/old.db"),
    });
    expect(locationOf({ ...base, file: resolve("/x/graph.sqlite") })).toEqual({
      kind: "sqlite",
      isDefault: false,
      space: "default",
      file: resolve("/x/graph.sqlite"),
    });
  });

  it("gives each space a file, and each project a space that stays the same", () => {
    const file = resolve("/x/memory.db");
    expect(locationOf({ ...base, file, space: "work" })).toEqual({
      kind: "sqlite",
      isDefault: false,
      space: "work",
      file: join(resolve("/x"), "memory.work.db"),
    });
    const official = resolve("/x/old.jsonl");
    expect(locationOf({ ...base, file: official, space: "work" })).toMatchObject({
      file: join(resolve("/x"), "old.work.db"),
      official,
    });
    const auto = locationOf({ ...base, file, space: "auto" });
    expect(auto.space).toMatch(/^my_project_[0-9a-f]{8}$/);
    expect(spaceProblem(auto.space)).toBeUndefined();
    expect(locationOf({ ...base, file, space: "auto" })).toEqual(auto);
    expect(
      locationOf({ ...base, file, space: "auto", project: "/other/My Project" }).space,
    ).not.toBe(auto.space);
    expect(
      spaceProblem(locationOf({ ...base, file, space: "auto", project: "/" }).space),
    ).toBeUndefined();
  });

  it("prefers PostgreSQL over a file, and accepts no other URL", () => {
    const store = "postgres://u:p@h/d";
    expect(locationOf({ ...base, store, file: "/x/memory.jsonl" })).toEqual({
      kind: "postgres",
      space: "default",
      url: store,
      official: "/x/memory.jsonl",
    });
    for (const wrong of ["mysql://u:p@h/d", "postgres://h", "nonsense"])
      expect(() => locationOf({ ...base, store: wrong })).toThrow(
        /--store is not a PostgreSQL URL/,
      );
  });

  it("validates the name of a space", () => {
    expect(["a", "work_2", "0"].map(spaceProblem)).toEqual([undefined, undefined, undefined]);
    for (const wrong of ["", "Work", "a-b", "../x", "x".repeat(41), "_a"])
      expect(spaceProblem(wrong)).toContain("lowercase");
  });
});
