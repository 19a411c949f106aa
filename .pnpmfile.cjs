// pnpm skips an optional dependency whose engines exclude this Node.js. Version 12 is needed only where version 13 doesn't run
// (scripts/lib/better-sqlite3), and compiles for minutes where its binary cannot be downloaded.
const OLD = "<22.14.0 || >=23.0.0 <23.6.0";

module.exports = {
  hooks: {
    readPackage: (manifest) =>
      manifest.name === "better-sqlite3" && manifest.version.startsWith("12.")
        ? { ...manifest, engines: { node: OLD } }
        : manifest,
  },
};
