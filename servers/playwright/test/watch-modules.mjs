// Preloaded (`node --import`) by a test: records each process that loads a Playwright module in the file LOADED_LOG.
import { appendFileSync } from "node:fs";
import Module from "node:module";

const resolve = Module._resolveFilename;
Module._resolveFilename = function (...args) {
  const found = resolve.apply(this, args);
  if (/[\\/]node_modules[\\/]playwright(?:-core)?[\\/]/.test(found))
    appendFileSync(process.env.LOADED_LOG, `${process.pid} ${found}\n`);
  return found;
};
