import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { resource } from "../context.ts";

/** `file:///` and the rest of an absolute path: on Windows the rest begins with the drive. */
const absolute = (path: string) => (/^[A-Za-z]:/.test(path) ? path : `/${path}`);

export default resource({
  uriTemplate: "file:///{+path}",
  name: "file",
  title: "File or directory",
  description:
    "A file in an allowed directory, or the names in a directory. Subscribe to be notified of changes.",
  async read({ path }, files) {
    const whole = await files.readWhole(absolute(path));
    return "text" in whole
      ? { text: whole.text, mimeType: whole.mime }
      : { blob: whole.bytes, mimeType: whole.mime };
  },
  list(files) {
    const resources = files.allowedDirectories().map((directory) => ({
      uri: pathToFileURL(directory.path).href,
      name: basename(directory.path),
      title: directory.path,
      description: `An allowed directory (${directory.source}${directory.writable ? "" : ", read-only"}).`,
      mimeType: "inode/directory",
    }));
    return { resources };
  },
  complete: {
    async path(value, files) {
      const found = await files.completePath(absolute(value));
      return found.map((path) => path.replace(/^\//, ""));
    },
  },
  watch: ({ path }, files, changed) => files.watch(absolute(path), changed),
});
