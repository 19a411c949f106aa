export { packaged } from "./binaries.ts";
export { type Cluster, type ClusterOptions, freePort, startCluster } from "./cluster.ts";
