// The process of a client: carries out the test's orders and sends back the results.
const { connect, finish } = await import(`./${process.argv[2]}.mjs`);
const running = new Map();
let client;

const orders = {
  connect: async ({ way }) => {
    client = await connect(way, process.argv[3]);
  },
  list: async () => (await client.list()).sort(),
  async call({ id, tool, args }) {
    const controller = new AbortController();
    running.set(id, controller);
    try {
      return answerOf(await client.call(tool, args, { signal: controller.signal }));
    } finally {
      running.delete(id);
    }
  },
  cancel: ({ call }) => running.get(call)?.abort(),
  close: () => client.close(),
};

process.on("message", async ({ id, order, ...rest }) => {
  try {
    process.send({ id, value: await orders[order]({ id, ...rest }) });
  } catch (error) {
    process.send({
      id,
      thrown: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
    });
  }
});
process.on("disconnect", async () => {
  await finish?.();
  // Handles that a client leaves open must not keep this process running.
  process.exit();
});
process.send("ready");

/** The text of a result, and whether it is an error. */
function answerOf(result) {
  const { content, isError = false } = result ?? {};
  if (!Array.isArray(content))
    return { isError, text: typeof result === "string" ? result : JSON.stringify(result) };
  return { isError, text: content.map(({ text }) => text ?? "").join("\n") };
}
