// Preloaded (`node --import`) by a test: records each process that loads a Playwright module in the file LOADED_LOG.
import { appendFileSync } from "node:fs";
import Module from "node:module";

/** @type {{ _resolveFilename: (...args: unknown[]) => string }} a private part of Node.js */
const internals = Object(Module);
const resolve = internals._resolveFilename;
internals._resolveFilename = function (...args) {
  const found = resolve.apply(this, args);
  if (/[\\/]node_modules[\\/]playwright(?:-core)?[\\/]/.test(found))
    appendFileSync(process.env.LOADED_LOG ?? "", `${process.pid} ${found}\n`);
  return found;
};
