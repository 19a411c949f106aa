export { packaged } from "./binaries.ts";
export { type Cluster, type ClusterOptions, freePort, startCluster } from "./cluster.ts";
export { isWindows, privateFolder } from "./data-directory.ts";
export { Supervisor } from "./supervisor.ts";
