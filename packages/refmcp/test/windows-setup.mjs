// Runs in Node.js for Windows (also under Wine): sets up a made home, checks it and undoes it. Arguments: the home and
// the file for the results. Wine gives every program its Windows user's variables, so the home is passed on here.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const [home = "", results = ""] = process.argv.slice(2);
const bin = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
const env = {
  ...process.env,
  USERPROFILE: home,
  APPDATA: join(home, "AppData", "Roaming"),
  LOCALAPPDATA: join(home, "AppData", "Local"),
};
const commands = [
  ["setup", ".", "--yes"],
  ["setup", "--check"],
  ["setup", "--undo", "--yes"],
];
const runs = commands.map((args) => {
  try {
    return {
      code: 0,
      text: execFileSync(process.execPath, [bin, ...args], { cwd: home, env, encoding: "utf8" }),
    };
  } catch (error) {
    const { status, stdout, stderr } = Object(error);
    return { code: status, text: `${stdout}${stderr}` };
  }
});
writeFileSync(results, JSON.stringify(runs));
