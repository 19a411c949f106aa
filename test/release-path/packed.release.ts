import { inject } from "vitest";
import { testInstalled } from "../packed/installed.ts";

// The oldest supported version and the current LTS, each with the clients of one era.
testInstalled(
  [
    { major: 20, eras: ["legacy"] },
    { major: 24, eras: ["modern"] },
  ],
  () => inject("tarballs"),
);
