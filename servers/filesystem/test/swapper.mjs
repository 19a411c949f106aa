// Swaps a name between a legitimate target and a link that leads outside, as fast as it can, until stdin closes.
// Usage: swapper.mjs NAME file|directory OUTSIDE: NAME is that, and in turn a link to OUTSIDE.
import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";

const [name = "", kind, outside = ""] = process.argv.slice(2);
let swaps = 0;
let stop = false;
process.stdin.on("data", () => (stop = true));
process.stdin.on("end", () => (stop = true));

function swap() {
  const spare = `${name}.spare`;
  rmSync(spare, { recursive: true, force: true });
  symlinkSync(outside, spare);
  if (kind === "file") {
    renameSync(spare, name);
    writeFileSync(spare, "honest");
    renameSync(spare, name);
  } else {
    // A directory cannot be renamed over: it is moved away and back.
    const aside = `${name}.aside`;
    renameSync(name, aside);
    renameSync(spare, name);
    unlinkSync(name);
    renameSync(aside, name);
  }
  swaps += 1;
}

if (kind === "directory") mkdirSync(name, { recursive: true });
process.stdout.write("ready\n");
(function loop() {
  for (let i = 0; i < 50 && !stop; i++) swap();
  if (stop) {
    process.stdout.write(`${swaps}\n`);
    process.exit(0);
  }
  setImmediate(loop);
})();
