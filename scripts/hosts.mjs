// `pnpm hosts`: the hosts whose facts were last compared with their documentation more than three months ago, which `pnpm check`
// prints, too. This is a note: as an error it would stop a release one day without a change. To bring a host up to date,
// compare its row in packages/refmcp/src/hosts/hosts.ts with the page in `source`, set the date there, and run
// `node scripts/generate.mjs`.
import { overdueNote } from "./lib/host-dates.mjs";

process.stdout.write(
  (await overdueNote()) ??
    "All hosts were compared with their documentation in the last three months.\n",
);
