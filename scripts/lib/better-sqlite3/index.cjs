// npm chooses a version by the Node.js that installs, but a lockfile has one answer for all. So both versions are locked, and this
// package, which replaces better-sqlite3 in the workspace, loads one. Version 13 has binaries for all platforms and needs
// Node-API 10. Version 12 is installed on older versions of Node.js only (.pnpmfile.cjs): built for Node.js 24, it crashes.
module.exports =
  Number(process.versions.napi) >= 10
    ? require("better-sqlite3-prebuilt")
    : require("better-sqlite3-node20");
