import { basename, dirname, resolve } from "node:path";
import { resource } from "../context.ts";
import { contentOf } from "./artifact.ts";

/** `file:///` and the rest of an absolute path: on Windows the rest begins with the drive. */
const absolute = (path: string) => (/^[A-Za-z]:/.test(path) ? path : `/${path}`);

export default resource({
  uriTemplate: "file:///{+path}",
  name: "run-artifact-file",
  title: "An artifact of a run, by file URL",
  description:
    "A screenshot or other artifact, by the link in a run's answer. No other file can be read.",
  async read({ path }, { runs }) {
    const file = resolve(absolute(path));
    return contentOf(runs, basename(dirname(file)), basename(file), file);
  },
});
