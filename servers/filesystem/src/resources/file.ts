import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { sizeOf } from "@refmcp/boundary/answer";
import { resource } from "../context.ts";
import { textTypeOf } from "../files/read/media.ts";
import { completePath, readTail, readWhole, resourceQuery } from "../files/read/resource.ts";
import { newestFiles } from "../files/tree/newest-files.ts";

/** `file:///` and the rest of an absolute path: on Windows the rest begins with the drive. */
const absolute = (path: string) => (/^[A-Za-z]:/.test(path) ? path : `/${path}`);

export default resource({
  uriTemplate: "file:///{+path}{?tail}",
  name: "file",
  title: "File",
  description:
    "A file in an allowed directory, or its last lines (?tail=200). Subscribe to be notified of changes.",
  async read({ path, tail }, files) {
    const whole =
      tail === undefined
        ? await readWhole(files, absolute(path))
        : await readTail(files, absolute(path), tail);
    return "text" in whole
      ? { text: whole.text, mimeType: whole.mime }
      : { blob: whole.bytes, mimeType: whole.mime };
  },
  async list(files, _cursor, call) {
    const newest = await newestFiles(files, call.signal);
    const listings = newest.flatMap(({ path, size, time }) => {
      const query = resourceQuery(path, size);
      if (query === undefined) return [];
      const lastModified = new Date(time).toISOString();
      const facts = `${sizeOf(size)}, modified ${lastModified}`;
      return {
        uri: pathToFileURL(path).href + query,
        name: basename(path),
        title: path,
        description: query === "" ? facts : `The last lines; ${facts}`,
        mimeType: textTypeOf(path),
        size,
        annotations: { lastModified },
      };
    });
    return { resources: listings };
  },
  complete: {
    async path(value, files) {
      const completion = await completePath(files, absolute(value));
      return completion.map((path) => path.replace(/^\//, ""));
    },
  },
  watch: ({ path }, files, changed) => files.watchers.watch(absolute(path), changed),
});
