import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { workerFile } from "@refmcp/launch/worker-file";
import type { Change, Healing } from "../heal/heal.ts";
import type { Surveyed } from "../heal/survey.ts";
import { type Calling, workMs } from "../session/deadline.ts";
import type { RunStore } from "../store/runs.ts";
import { cliOf } from "./command.ts";
import {
  type HookEvent,
  type HookOrder,
  type Site,
  type SpecOffer,
  siteName,
} from "./hook-order.ts";
import { applyEdits, diffOf, type Edit, editOf, pathIn } from "./patch.ts";
import type { Specs } from "./specs.ts";

type Broken = Extract<HookEvent, { kind: "broken" }>;
type Override = HookOrder["targets"][number];

const MAX_CHANGES = 6;
const MAX_OFFERS = 3;
const CLOSE = 0.06;
const ANSWER_MS = 3_000;

/** What a report of a healed spec keeps for the next time. */
interface KeptSpec {
  readonly specElements: Readonly<Record<string, Surveyed>>;
}

/**
 * Finds the changed locators of the user's own failing tests. Each candidate is tried with the unchanged file: the
 * hook uses it for the locator at that place. The files change only with `apply`, after the proof.
 *
 * @throws ToolError as `Specs.run` does; `conflict` if a file was changed in the meantime.
 */
export async function healSpec(
  { specs, runs }: { readonly specs: Specs; readonly runs: RunStore },
  { file, apply }: { readonly file: string; readonly apply: boolean },
  call: Calling,
): Promise<Healing> {
  const project = specs.folder;
  const folder = await mkdtemp(join(tmpdir(), "refmcp-heal-"));
  const core = createRequire(cliOf(project)).resolve("playwright-core");
  const hook = pathToFileURL(workerFile("heal-hook", import.meta.url)).href;
  const greens = await greensFor(runs);
  const began = performance.now();
  let count = 0;
  const run = async (targets: readonly Override[], remove?: string) => {
    count += 1;
    call.progress(count, undefined, `run ${count}`);
    const events = join(folder, `events-${count}.jsonl`);
    const order: HookOrder = {
      core,
      events,
      greens,
      targets,
      ...(remove === undefined ? {} : { remove }),
    };
    const path = join(folder, `order-${count}.json`);
    await writeFile(path, JSON.stringify(order), { mode: 0o600 });
    const told = async (): Promise<HookEvent[]> =>
      (await readFile(events, "utf8").catch(() => ""))
        .split("\n")
        .flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
    const report = await specs.run({ files: [file], lastFailed: false }, call, {
      env: { NODE_OPTIONS: `--import ${hook}`, REFMCP_HEAL: path },
      args: ["--retries=0", "--workers=1"],
      more: async (): Promise<KeptSpec> => ({
        specElements: Object.fromEntries(
          (await told()).flatMap((one) =>
            one.kind === "element" ? [[one.key, one.surveyed]] : [],
          ),
        ),
      }),
    });
    const broken = (await told()).filter((one): one is Broken => one.kind === "broken");
    return { report, broken };
  };
  try {
    return specs.redactIn(await heal());
  } finally {
    await rm(folder, { recursive: true, force: true });
  }

  async function heal(): Promise<Healing> {
    const overrides: Override[] = [];
    const edits: Edit[] = [];
    const changes: Change[] = [];
    const notes = new Set<string>();
    const answer = (
      outcome: Healing["outcome"],
      summary: string,
      more: Partial<Healing> = {},
    ): Healing => ({
      ...{ outcome, summary, changes, questions: [], red_runs: [], runs: count, notes: [...notes] },
      ...more,
    });
    let last = await run([]);
    const firstMs = performance.now() - began;
    const hasTime = () => workMs(call) > firstMs + ANSWER_MS;
    if (last.report.passed)
      return answer(
        "passes",
        "The test passes, so there is nothing to heal. What its locators are is kept for the next time.",
        { green_run: last.report.run_id },
      );

    while (!last.report.passed) {
      // Without the code, which is the hook's.
      const [said = ""] = (last.report.failures[0]?.error ?? "the test failed").split(/\n\s+at /);
      const [broken] = last.broken;
      const defect = () => answer("defect", `This looks like a real defect: ${said}`);
      const site = broken?.sites.at(-1);
      if (
        broken === undefined ||
        site === undefined ||
        broken.matches === 1 ||
        changes.length >= MAX_CHANGES
      )
        return defect();
      if (greens[broken.key] === undefined) notes.add(NO_GREEN);
      const passing: { offer: SpecOffer; isWhole: boolean; edit: Edit; run: typeof last }[] = [];
      let farther: (typeof passing)[number] | undefined;
      for (const offer of broken.offers.slice(0, MAX_OFFERS)) {
        const [first] = passing;
        if (first !== undefined && first.offer.score - offer.score > CLOSE) break;
        for (const isWhole of broken.sites.length > 1 && !offer.isSame ? [false, true] : [true]) {
          const edit = await editOf(
            project,
            isWhole ? (broken.sites[0] ?? site) : site,
            site,
            offer.code,
          );
          if (edit === undefined) {
            notes.add(
              `the locator at ${placeOf(site)} cannot be changed: it is not one expression in a file of the project`,
            );
            continue;
          }
          if (!hasTime())
            return answer(
              "undecided",
              "There was no time left to try every candidate. Call again with a longer --timeout-ms.",
            );
          if (broken.isExpectation && offer.changesName)
            return answer(
              "question",
              `${placeOf(site)} checks a text that has changed on the page. Only you can say which is right.`,
              {
                questions: [changeOf(edit, site, offer)],
              },
            );
          const tried = await run([
            ...overrides,
            { site: siteName(site), target: offer.target, isWhole },
          ]);
          const found = { offer, isWhole, edit, run: tried };
          if (tried.report.passed) {
            passing.push(found);
            break;
          }
          const next = tried.broken[0]?.sites.at(-1);
          if (next !== undefined && siteName(next) !== siteName(site)) farther ??= found;
        }
      }
      const [one, other] = passing;
      if (one !== undefined && other !== undefined)
        return answer(
          "question",
          `Two elements could be meant at ${placeOf(site)}, and the test passes with either.`,
          {
            questions: [one, other].map(({ edit, offer }) => changeOf(edit, site, offer)),
          },
        );
      const chosen = one ?? farther;
      if (chosen === undefined) return defect();
      overrides.push({
        site: siteName(site),
        target: chosen.offer.target,
        isWhole: chosen.isWhole,
      });
      edits.push(chosen.edit);
      changes.push(changeOf(chosen.edit, site, chosen.offer));
      last = chosen.run;
    }

    const green = last.report.run_id;
    const red: string[] = [];
    for (const { site } of overrides) {
      if (!hasTime())
        return answer(
          "undecided",
          "There was no time left to prove the changes. Call again with a longer --timeout-ms.",
          { green_run: green },
        );
      const { report } = await run(overrides, site);
      if (report.passed)
        return answer(
          "defect",
          "The test passes with the changes, but also if a changed locator's element is removed from the page, so they prove nothing.",
        );
      red.push(report.run_id);
    }
    const proof = { green_run: green, red_runs: red, patch: await diffOf(project, edits) };
    const healed = `${changes.length === 1 ? "1 locator" : `${changes.length} locators`} changed: the test passes, and fails if a changed locator's element is removed from the page.`;
    if (!apply) return answer("healed", healed, { ...proof, applied: false });
    const restore = await applyEdits(project, edits);
    const written = await specs
      .run({ files: [file], lastFailed: false }, call)
      .catch(async (error: unknown) => {
        await restore();
        throw error;
      });
    if (written.passed)
      return answer("healed", `${healed} The files are written.`, {
        ...proof,
        green_run: written.run_id,
        applied: true,
      });
    await restore();
    return answer(
      "defect",
      "The test fails with the written changes, so the files were restored.",
      {
        patch: proof.patch,
        applied: false,
      },
    );
  }

  function placeOf(site: Site): string {
    return `${pathIn(project, site.file)}:${site.line}`;
  }

  function changeOf(edit: Edit, site: Site, { why }: SpecOffer): Change {
    return {
      where: placeOf(site),
      before: edit.source.slice(edit.start, edit.end),
      after: edit.text,
      why,
    };
  }
}

const NO_GREEN =
  "no earlier pw_heal of this test while it passed is kept (50 runs, 7 days), so elements were compared with the locator's words alone";

/** What the locators of specs were when their tests passed, the newest first. */
async function greensFor(runs: RunStore): Promise<Record<string, Surveyed>> {
  const greens: Record<string, Surveyed> = {};
  for (const id of await runs.ids()) {
    const report = await runs.report<KeptSpec & { passed: boolean }>(id).catch(() => undefined);
    if (report?.passed !== true) continue;
    for (const [key, surveyed] of Object.entries(report.specElements ?? {}))
      greens[key] ??= surveyed;
  }
  return greens;
}
