import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, sep } from "node:path";
import { build } from "esbuild";
import { describe, expect, it, onTestFinished } from "vitest";
import { notices } from "../../scripts/notices.mjs";
import { SERVERS, serverFolder } from "../servers.ts";
import { sectionsOf } from "./release.ts";

interface Package {
  /** False if only functions that do nothing were taken from it, whose calls are left out. */
  readonly hasCode: boolean;
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** The packages that a server's sources import, found by a separate build: those inside, and those that stay outside. */
async function packagesIn(name: string): Promise<Package[]> {
  const folder = serverFolder(name);
  const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const workers = readdirSync(join(folder, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".worker.ts"))
    .map((file) => join("src", file));
  const views = existsSync(join(folder, "views"))
    ? readdirSync(join(folder, "views"), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => join("views", entry.name, "view.ts"))
    : [];
  const { metafile } = await build({
    absWorkingDir: folder,
    entryPoints: ["src/bin.ts", ...workers],
    bundle: true,
    metafile: true,
    write: false,
    outdir: "dist",
    platform: "node",
    format: "esm",
    external: Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
  });
  const viewBuild = await build({
    absWorkingDir: folder,
    entryPoints: views,
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    metafile: true,
    write: false,
    outdir: "dist",
    loader: { ".css": "empty" },
  });
  const used = [metafile, viewBuild.metafile].flatMap(({ outputs }) =>
    Object.values(outputs).flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([input, { bytesInOutput }]) =>
        bytesInOutput > 0 ? join(folder, input) : [],
      ),
    ),
  );
  const folders = new Set<string>();
  const paths = Object.keys({ ...metafile.inputs, ...viewBuild.metafile.inputs }).map((input) =>
    join(folder, input),
  );
  for (const path of paths) {
    if (!path.includes(`${sep}node_modules${sep}`)) continue;
    let place = dirname(path);
    while (!/^(@.*|node_modules)$/.test(basename(dirname(place)))) place = dirname(place);
    folders.add(place);
  }
  return [...folders].map((place) => ({
    folder: place,
    hasCode: used.some((path) => path.startsWith(`${place}${sep}`)),
    ...JSON.parse(readFileSync(join(place, "package.json"), "utf8")),
  }));
}

describe.each(SERVERS)("the notices of the %s server", (name) => {
  it("have the license texts of all packages in the bundle, which its SBOM lists, and of nothing else", async () => {
    const sections = sectionsOf(
      await readFile(join(serverFolder(name), "THIRD_PARTY_NOTICES"), "utf8"),
    );
    const packages = await packagesIn(name);
    expect(packages.map((dependency) => dependency.name)).toEqual(
      expect.arrayContaining(["zod", "jose"]),
    );
    const own = [...sections.keys()].filter(
      (title) => !/ \(in .*\)$|^Notices in source files$/.test(title),
    );
    expect(own).toEqual(
      packages.map((dependency) => `${dependency.name} ${dependency.version}`).toSorted(),
    );
    const bill: { components: { group?: string; name: string; version: string; purl?: string }[] } =
      JSON.parse(await readFile(join(serverFolder(name), "sbom.cdx.json"), "utf8"));
    const listed = bill.components
      // A package can have another package.json in a folder, such as read-excel-file/universal.
      .filter(
        ({ purl, group, name }) => purl !== undefined && group !== "@refmcp" && !name.includes("/"),
      )
      .map(
        (component) =>
          `${component.group === undefined ? "" : `${component.group}/`}${component.name} ${component.version}`,
      );
    // The SBOM lists what has code in the bundle.
    const empty = packages
      .filter(({ hasCode }) => !hasCode)
      .map((dependency) => `${dependency.name} ${dependency.version}`);
    expect(empty.length).toBeLessThan(packages.length / 2);
    expect([...new Set([...listed, ...empty])].toSorted()).toEqual(own);
    for (const dependency of packages) {
      const section = sections.get(`${dependency.name} ${dependency.version}`) ?? "";
      // Old manifests name none; their text is checked below.
      expect(section, dependency.name).toContain(`License: ${dependency.license ?? "MIT"}\n`);
      expect(section, `${dependency.name}: source`).toMatch(/^Source: https:\/\/\S+$/m);
      expect(section, `${dependency.name}: permission`).toMatch(
        /Permission (is hereby granted|to use, copy)|Redistribution and use|TERMS AND CONDITIONS|Mozilla Public License,? [Vv]ersion 2\.0/,
      );
      const files = readdirSync(dependency.folder, { withFileTypes: true }).flatMap((entry) => {
        if (!/licen[cs]e|notice/i.test(entry.name)) return [];
        return entry.isFile()
          ? [entry.name]
          : readdirSync(join(dependency.folder, entry.name)).map((file) => join(entry.name, file));
      });
      for (const file of files)
        expect(section, `${dependency.name}/${file}`).toContain(
          readFileSync(join(dependency.folder, file), "utf8").replaceAll("\r\n", "\n").trim(),
        );
    }
  });
});

it("state where the source of axe-core is, as its license requires", async () => {
  const sections = sectionsOf(
    await readFile(join(serverFolder("playwright"), "THIRD_PARTY_NOTICES"), "utf8"),
  );
  const [, section] = [...sections].find(([title]) => title.startsWith("axe-core ")) ?? [];
  expect(section).toContain(
    "Source: https://github.com/dequelabs/axe-core\nSource code: the npm package",
  );
});

it("a package without a license file and without a standard text fails the build", async () => {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-notices-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const manifest = { name: "rare", version: "1.0.0", license: "Rare-1.0" };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
  await expect(notices("a bundle", [folder])).rejects.toThrow(
    "rare 1.0.0 is in the bundle, but has no license file, and scripts/licenses has no text of its license (Rare-1.0). Add one as scripts/licenses/Rare-1.0.txt, or remove the package.",
  );
});
