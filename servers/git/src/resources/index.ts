// Written by `pnpm generate`.
import status from "./status.ts";

export const resources = [status];
