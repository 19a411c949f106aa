import { statfsSync } from "node:fs";
import { isInside, type Platform } from "./platform.ts";

/** Trees that show processes, devices and kernel state as files. `/proc/self/root` alone would open the whole disk. */
const places = ["/proc", "/sys", "/dev"];

/** Whether an absolute real path lies where nothing is a plain file, whatever directory is allowed. */
export function isSpecialPlace(realPath: string, platform: Platform): boolean {
  if (platform === "win32" || isInside(realPath, "/dev/shm", platform)) return false;
  return places.some((place) => isInside(realPath, place, platform));
}

/** linux/magic.h: file systems without content of the user's, wherever they are mounted. */
const specialTypes = new Set([
  0x9fa0, // proc
  0x62656572, // sysfs
  0x1cd1, // devpts
  0x27e0eb, // cgroup
  0x63677270, // cgroup2
  0x64626720, // debugfs
  0x74726163, // tracefs
  0x73636673, // securityfs
  0x62656570, // configfs
  0xcafe4a11, // bpf
  0x6165676c, // pstore
  0xde5e81e4, // efivarfs
  0xf97cff8c, // selinuxfs
  0x6e736673, // nsfs
  0x42494e4d, // binfmt_misc
  0x19800202, // mqueue
]);

/** Whether `path` lies on such a file system; false where that cannot be told. About a microsecond. */
export function isSpecialFileSystem(path: string): boolean {
  try {
    return specialTypes.has(statfsSync(path).type);
  } catch {
    return false;
  }
}
