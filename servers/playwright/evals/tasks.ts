import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CallTool, Task, World } from "@refmcp/testing";
import * as z from "zod";

/** The fixture's earlier run. */
const RUN = "20260728-090000-0f1x7e00";
const WHERE = `(report.json of the run ${RUN} contains the address of our site.)`;

/** The site's address, without a slash at its end; as an assistant finds it out. */
async function siteOf(call: CallTool): Promise<string> {
  const report = JSON.parse(await call("pw_view_artifact", { run_id: RUN, name: "report.json" }));
  return new URL(report.url).origin;
}

const folderOf = (world: World, option: string): string =>
  world.args[world.args.indexOf(option) + 1] ?? "";

const report = z.object({
  passed: z.boolean(),
  final_url: z.string().optional(),
  assertions: z.array(
    z.object({ name: z.string(), passed: z.boolean(), device: z.string().optional() }),
  ),
});

/** The artifacts of a task's runs, read without the server. */
async function reports(world: World) {
  const folder = folderOf(world, "--output-dir");
  const ids = (await readdir(folder)).filter((id) => id !== RUN);
  const texts = ids.map((id) =>
    readFile(join(folder, id, "report.json"), "utf8").catch(() => "null"),
  );
  return (await Promise.all(texts)).flatMap(
    (text) => report.safeParse(JSON.parse(text)).data ?? [],
  );
}

export const tasks: readonly Task[] = [
  {
    name: "does it work",
    prompt: `Check in a browser that our start page has the heading 'Docs' and no errors in its console. ${WHERE}`,
    reference: async (call) =>
      call("pw_run_test", {
        url: await siteOf(call),
        assertions: ["h1 is 'Docs'", "no console errors"],
      }),
    check: async (_answer, world) =>
      (await reports(world)).some((run) => run.passed && run.assertions.length >= 2),
  },
  {
    name: "the actual heading",
    prompt: `The heading of /login should be 'Log in'. Is it? If not, what is it? ${WHERE}`,
    reference: async (call) =>
      call("pw_run_test", {
        url: `${await siteOf(call)}/login`,
        assertions: ["h1 is 'Log in' within 500ms"],
      }),
    check: (answer) => answer.includes("Sign in"),
  },
  {
    name: "the fields of a form",
    prompt: `Which fields does the form on /login have? ${WHERE}`,
    reference: async (call) => call("pw_inspect_page", { url: `${await siteOf(call)}/login` }),
    check: (answer) => answer.includes("Name") && answer.includes("Password"),
  },
  {
    name: "count",
    prompt: `How many buttons does /crowd have? ${WHERE}`,
    reference: async (call) =>
      call("pw_run_test", {
        url: `${await siteOf(call)}/crowd`,
        assertions: ["button count is 0 within 100ms"],
        evidence: [],
      }),
    check: (answer) => /\b250\b/.test(answer),
  },
  {
    name: "sign in with a secret",
    prompt: `Sign in from the start page as Ada with the secret PASSWORD and check that she is welcomed. ${WHERE}`,
    async reference(call) {
      const url = await siteOf(call);
      await call("pw_inspect_page", { url: `${url}/login` });
      return call("pw_run_test", {
        url,
        steps: [
          "click link 'Sign in'",
          "fill label 'Name' with 'Ada'",
          "fill label 'Password' with secret 'PASSWORD'",
          "click button 'Go on'",
        ],
        assertions: ["h1 is 'Welcome'", "url contains '/in?name=Ada'"],
      });
    },
    check: async (answer, world) =>
      !answer.includes(world.secret ?? "") &&
      (await reports(world)).some(
        (run) => run.passed && run.final_url?.includes("/in?name=Ada") === true,
      ),
  },
  {
    name: "on a phone too",
    prompt: `Does the start page fit on an iPhone 15 and on a desktop, without scrolling to the side? ${WHERE}`,
    reference: async (call) =>
      call("pw_run_test", {
        url: await siteOf(call),
        devices: ["desktop", "iPhone 15"],
        assertions: ["no horizontal overflow"],
      }),
    check: async (_answer, world) =>
      (await reports(world)).some((run) =>
        run.assertions.some(({ device, passed }) => device === "iPhone 15" && passed),
      ),
  },
  {
    name: "several pages at once",
    prompt: `Check the headings of /, /login and /in: Docs, Sign in, Welcome. ${WHERE}`,
    async reference(call) {
      const url = await siteOf(call);
      const pages = { "/": "Docs", "/login": "Sign in", "/in": "Welcome" };
      return call("pw_run_suite", {
        tests: Object.entries(pages).map(([path, heading]) => ({
          name: path,
          url: url + path,
          assertions: [`h1 is '${heading}'`],
        })),
      });
    },
    check: async (_answer, world) => (await reports(world)).filter((run) => run.passed).length >= 3,
  },
  {
    name: "what is different",
    prompt: `Compare the start page with /login: which heading is new on /login? ${WHERE}`,
    async reference(call) {
      const url = await siteOf(call);
      await call("pw_compare", { url, keep: true });
      return call("pw_compare", { url: `${url}/login` });
    },
    check: (answer) => answer.includes("Sign in"),
  },
  {
    name: "what does it look like",
    prompt: `How large is the screenshot home.png of the run ${RUN}, in pixels? Look at it.`,
    reference: (call) => call("pw_view_artifact", { run_id: RUN, name: "home.png" }),
    check: (answer) => /320\s*[x×]\s*200/.test(answer),
  },
  {
    name: "our own tests",
    prompt: "How many tests does our Playwright project have, and do 'adds' and 'subtracts' pass?",
    async reference(call) {
      const { total } = JSON.parse(await call("pw_list_specs", { limit: 1 }));
      const ran = await call("pw_run_specs", {
        files: ["sums.spec.js"],
        grep: "^(adds|subtracts)$|adds|subtracts",
      });
      return `${total} tests. ${ran}`;
    },
    check: (answer) => /\b252\b/.test(answer) && /pass/i.test(answer),
  },
  {
    name: "a spec for the repository",
    prompt: `Write me a Playwright spec that follows 'Sign in' on the start page and checks the heading 'Sign in'; show me the code only once it works. ${WHERE}`,
    async reference(call) {
      const script = {
        url: await siteOf(call),
        steps: ["click link 'Sign in'"],
        assertions: ["h1 is 'Sign in'"],
      };
      await call("pw_run_test", script);
      return call("pw_export_spec", { ...script, title: "signing in" });
    },
    check: async (answer, world) =>
      answer.includes("@playwright/test") &&
      answer.includes('getByRole("link", { name: "Sign in" })') &&
      (await reports(world)).some((run) => run.passed),
  },
];
