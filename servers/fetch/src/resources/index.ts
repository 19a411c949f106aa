// Written by `pnpm generate`.
import pageHttp from "./page-http.ts";
import pageHttps from "./page-https.ts";
import snapshot from "./snapshot.ts";
import snapshotRaw from "./snapshot-raw.ts";

export const resources = [pageHttp, pageHttps, snapshot, snapshotRaw];
