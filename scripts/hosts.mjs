// `pnpm hosts`: fails if the facts of a host were last compared with its documentation more than three months ago. A release
// runs it; CI does not, or main would fail one day without a change. `pnpm check` only warns. To bring a host up to date, compare
// its row in packages/launch/src/hosts/ with the page in `documentation`, set `checked`, and run `node scripts/generate.mjs`.
import { overdueNote } from "./lib/host-dates.mjs";

const note = await overdueNote();
process.stderr.write(
  note ?? "All hosts were compared with their documentation in the last three months.\n",
);
if (note !== undefined) process.exitCode = 1;
