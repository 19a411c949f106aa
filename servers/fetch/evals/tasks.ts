import type { Task, World } from "@refmcp/testing";

/** A URL of the world's site. */
const at = (world: World, path: string): string => `http://${world.args[1]}${path}`;

export const tasks: readonly Task[] = [
  {
    name: "a fact of a page",
    prompt: (world) => `What does a ticket for a child cost, according to ${at(world, "/guide")}?`,
    async reference(call, world) {
      const page = await call("fetch", { url: at(world, "/guide"), section: "Prices" });
      return /Children \| (€ [\d.]+)/.exec(page)?.[1] ?? page;
    },
    check: (answer) => answer.includes("3.00"),
  },
  {
    name: "words in a page",
    prompt: (world) => `On which days is the place of ${at(world, "/guide")} closed?`,
    async reference(call, world) {
      const { places } = JSON.parse(
        await call("fetch_find", { url: at(world, "/guide"), query: "closed" }),
      );
      return places[0].text;
    },
    check: (answer) => /monday/i.test(answer) && /24 December/i.test(answer),
  },
  {
    name: "several pages",
    prompt: (world) =>
      `By which bus does one come to the mill, and how often does it go? See ${at(world, "/guide")} and ${at(world, "/stops")}.`,
    reference: (call, world) =>
      call("fetch_many", { urls: [at(world, "/guide"), at(world, "/stops")] }),
    check: (answer) => /bus 14/i.test(answer) && answer.includes("20 minutes"),
  },
  {
    name: "a link in a page",
    prompt: (world) =>
      `Which page does ${at(world, "/guide")} link to for the stop Mill Lane? Give its URL.`,
    async reference(call, world) {
      const page = await call("fetch", { url: at(world, "/guide") });
      return /\[Mill Lane\]\(([^)]+)\)/.exec(page)?.[1] ?? "";
    },
    check: (answer, world) => answer.includes(at(world, "/stops")),
  },
  {
    name: "the outline",
    prompt: (world) => `List the headings of ${at(world, "/guide")}, in order.`,
    async reference(call, world) {
      const { outline } = JSON.parse(
        await call("fetch", { url: at(world, "/guide"), format: "metadata" }),
      );
      return outline.map(({ title }: { title: string }) => title).join(", ");
    },
    check: (answer) => /Opening hours.*Prices.*How to come here.*Contact/s.test(answer),
  },
  {
    name: "the end of a long page",
    prompt: (world) => `What is the last heading of ${at(world, "/long")}?`,
    async reference(call, world) {
      const { places } = JSON.parse(
        await call("fetch_find", { url: at(world, "/long"), query: "Part 399" }),
      );
      return places[0].section;
    },
    check: (answer) => answer.includes("Part 399"),
  },
  {
    name: "where a page went",
    prompt: (world) => `Where does ${at(world, "/old-guide")} lead to now?`,
    async reference(call, world) {
      return JSON.parse(await call("fetch", { url: at(world, "/old-guide"), format: "metadata" }))
        .url;
    },
    check: (answer, world) => answer.includes(at(world, "/guide")),
  },
  {
    name: "data",
    prompt: (world) => `According to ${at(world, "/hours.json")}, when is it open on Tuesdays?`,
    reference: (call, world) => call("fetch", { url: at(world, "/hours.json") }),
    check: (answer) => answer.includes("10-17"),
  },
  {
    name: "what may not be reached",
    prompt: (world) => `What does ${at(world, "/inside")} say? If it cannot be read, say why.`,
    reference: (call, world) =>
      call("fetch", { url: at(world, "/inside") }).catch((error: Error) => error.message),
    check: (answer) =>
      /loopback|private|not reached|refused/i.test(answer) && !answer.includes("hunter2"),
  },
  {
    name: "what programs may not fetch",
    prompt: (world) => `What does ${at(world, "/closed")} say? If it cannot be read, say why.`,
    reference: (call, world) =>
      call("fetch", { url: at(world, "/closed") }).catch((error: Error) => error.message),
    check: (answer) => answer.includes("robots.txt"),
  },
  {
    name: "a price",
    prompt: (world) =>
      `What does the kettle of ${at(world, "/shop")} cost, and how long does delivery to Oslo take?`,
    reference: (call, world) => call("fetch", { url: at(world, "/shop") }),
    check: (answer) => /39[.,]90/.test(answer) && /6/.test(answer),
  },
  {
    name: "a feed",
    prompt: (world) => `What is the newest item of ${at(world, "/news.xml")}, and from which day?`,
    reference: async (call, world) =>
      /^- .*/m.exec(await call("fetch", { url: at(world, "/news.xml") }))?.[0] ?? "",
    check: (answer) => /wheel/i.test(answer) && /2026-05-05|5 May|May 5/i.test(answer),
  },
  {
    name: "a thread of several pages",
    prompt: (world) =>
      `Which buses do the posts of ${at(world, "/thread")} name, on all of its pages?`,
    async reference(call, world) {
      const pages: string[] = [];
      for (let url: string | undefined = at(world, "/thread"); url !== undefined; ) {
        const page = await call("fetch", { url });
        pages.push(page);
        url = /Next page: ([^\]]+)\]/.exec(page)?.[1];
      }
      return pages.join("\n");
    },
    check: (answer) => ["13", "14", "15"].every((bus) => answer.includes(bus)),
  },
  {
    name: "a question about pages",
    prompt: (world) =>
      `On which days is the mill closed? One of ${at(world, "/long")} and ${at(world, "/guide")} says so.`,
    reference: (call, world) =>
      call("fetch_many", {
        urls: [at(world, "/long"), at(world, "/guide")],
        question: "On which days is it closed?",
      }),
    check: (answer) => /monday/i.test(answer),
  },
];
