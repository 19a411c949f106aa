import { expect, it } from "vitest";
import { mountPoints } from "./below.ts";

it("reads mount points with spaces in their names", () => {
  const table =
    "36 35 98:0 /mnt1 /mnt/with\\040space rw - ext3 /dev/root rw\n22 28 0:20 / /sys rw - sysfs sysfs rw\n";
  expect(mountPoints(table)).toEqual(["/mnt/with space", "/sys"]);
});
