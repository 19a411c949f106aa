import { fstatSync, ftruncateSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { lockPath } from "../open-path.ts";
import { hashOf, readAt } from "../read/bytes.ts";
import { justChanged, type Making, type Outcome, type Step } from "./step.ts";

/** Appends in place, as `>>` does: other programs may have the file open, and add lines at the same time. */
export async function append(
  { guard, store, recording }: Making,
  { path, bytes: content, before }: Extract<Step, { kind: "append" }>,
): Promise<Outcome> {
  const bytes = content instanceof Uint8Array ? content : await bytesOf(content.image);
  return guard.updateFile(path, async (handle, now) => {
    const isSame =
      before === undefined || (before.size === now.size && before.mtimeMs === now.mtimeMs);
    if (!isSame) throw justChanged(path);
    const [from, size] = [now.size, now.size + bytes.length];
    const sizes = { size_before: from, size_after: size };
    recording.write({ kind: "append", path, from, digest: hashOf(bytes), ...sizes });
    let written = 0;
    try {
      while (written < bytes.length) written += (await handle.write(bytes, written)).bytesWritten;
      await handle.sync();
    } catch (error) {
      // Unless another program has appended in the meantime.
      if ((await handle.stat()).size === from + written) await handle.truncate(from);
      throw error;
    }
    return { replaced: from };
  });

  async function bytesOf(image: string): Promise<Uint8Array> {
    const own = store.openImage(image);
    try {
      return readFileSync(own.entry(basename(image)));
    } finally {
      own.close();
    }
  }
}

/** Undoes an append in place, and keeps what was appended. */
export async function cut(
  { guard, recording }: Making,
  { path, from, size }: Extract<Step, { kind: "cut" }>,
): Promise<Outcome> {
  return guard.updateFile(path, async (handle, now) => {
    if (now.size !== size) throw justChanged(path);
    const bytes = await readAt({ handle }, from, size - from);
    const { image } = recording.imageFor(await lockPath(guard, path, true), 0);
    await recording.copying(() => writeFileSync(image, bytes, { mode: 0o600 }));
    const sizes = { size_before: size, size_after: from };
    recording.write({ kind: "cut", path, size: from, image, ...sizes });
    // Nothing else in this process runs between these calls; another program may have appended since.
    if (fstatSync(handle.fd).size !== size) throw justChanged(path);
    ftruncateSync(handle.fd, from);
    return {};
  });
}
