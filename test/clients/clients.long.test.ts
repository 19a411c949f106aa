import { join } from "node:path";
import { npmPackages } from "../../scripts/lib/npm-programs.mjs";
import { PROGRAMS } from "../conformance/programs.ts";
import { SERVERS } from "../servers.ts";
import { CLIENTS, SDKS } from "./clients.ts";
import { installClients } from "./install.ts";
import { testClients } from "./suite.ts";

// The release path has the SDKs' own clients.
testClients(
  CLIENTS.filter((client) => !SDKS.includes(client)),
  {
    servers: SERVERS,
    install: installClients,
    async argumentOf({ driver, argument }) {
      if (driver !== "inspector") return argument;
      const { name, version, file } = PROGRAMS.inspector;
      return (await npmPackages({ [name]: version }))(join(name, file));
    },
  },
);
